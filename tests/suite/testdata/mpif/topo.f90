! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Cartesian grids: coordinates, shifts at open and closed edges, sub-grids.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    implicit none
    include 'mpif.h'
    integer :: rank, ranks, wrong, ierr, cart, row, me, up, down, back, forth, n, kind
    integer(8) :: digest
    integer :: dims(2), coords(2), got(2), around
    logical :: periods(2), closed(2)

    call begin
    dims = 0
    call MPI_DIMS_CREATE(ranks, 2, dims, ierr)
    call expect(product(dims) == ranks, 'dims_create')
    call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, ierr)
    call MPI_TOPO_TEST(cart, kind, ierr)
    call expect(kind == MPI_CART, 'topo_test')
    call MPI_TOPO_TEST(MPI_COMM_WORLD, kind, ierr)
    call expect(kind == MPI_UNDEFINED, 'no topology')
    call MPI_COMM_RANK(cart, me, ierr)
    call MPI_CARTDIM_GET(cart, n, ierr)
    call expect(n == 2, 'cartdim_get')
    call MPI_CART_GET(cart, 2, got, closed, coords, ierr)
    periods = [.true., .false.]
    call expect(all(got == dims) .and. all(closed .eqv. periods), 'cart_get')
    call MPI_CART_RANK(cart, coords, n, ierr)
    call expect(n == me, 'cart_rank')
    call MPI_CART_COORDS(cart, me, 2, got, ierr)
    call expect(all(got == coords), 'cart_coords')

    call MPI_CART_SHIFT(cart, 0, 1, up, down, ierr)
    call MPI_CART_SHIFT(cart, 1, 1, back, forth, ierr)
    call expect((back == MPI_PROC_NULL) .eqv. (coords(2) == 0), 'open edge')
    call expect((forth == MPI_PROC_NULL) .eqv. (coords(2) == dims(2) - 1), 'other edge')
    around = -1
    call MPI_SENDRECV(me, 1, MPI_INTEGER, down, 1, around, 1, MPI_INTEGER, up, 1, cart, MPI_STATUS_IGNORE, ierr)
    call expect(around == up, 'around')
    around = -1
    call MPI_SENDRECV(me, 1, MPI_INTEGER, forth, 1, around, 1, MPI_INTEGER, back, 1, cart, MPI_STATUS_IGNORE, ierr)
    call expect(around == merge(-1, back, back == MPI_PROC_NULL), 'along')

    call MPI_CART_SUB(cart, [.false., .true.], row, ierr)
    call MPI_ALLREDUCE(coords(1), n, 1, MPI_INTEGER, MPI_SUM, row, ierr)
    call expect(n == coords(1)*dims(2), 'row')
    call MPI_CART_MAP(MPI_COMM_WORLD, 2, dims, periods, n, ierr)
    call expect(n >= 0 .and. n < ranks, 'cart_map')
    digest = 100*coords(1) + 10*coords(2) + around
    call MPI_COMM_FREE(row, ierr)
    call MPI_COMM_FREE(cart, ierr)
    call finish('mpif/topo')
contains
    include 'check.inc'
end subroutine
