! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Datatypes of Fortran: derived types, blocks of arrays, kinds by precision.

module shapes
    implicit none
    type point
        sequence
        integer :: id
        double precision :: x(2)
        logical :: inside
    end type
end module

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi
    use shapes
    implicit none
    integer, parameter :: real15 = selected_real_kind(15, 100), int12 = selected_int_kind(12)
    integer :: rank, ranks, wrong, ierr, left, right, type, packed, i, n
    integer(8) :: digest
    type(point) :: p(3), q(3)
    integer :: grid(6, 5), block(2, 3)
    real(real15) :: r(2), s(2)
    integer(int12) :: k, m
    integer(MPI_ADDRESS_KIND) :: at(4), lb, extent
    integer(MPI_COUNT_KIND) :: bytes

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)

    call MPI_Get_address(p(1), at(4), ierr)
    call MPI_Get_address(p(1)%id, at(1), ierr)
    call MPI_Get_address(p(1)%x, at(2), ierr)
    call MPI_Get_address(p(1)%inside, at(3), ierr)
    at(:3) = at(:3) - at(4)
    call MPI_Type_create_struct(3, [1, 2, 1], at(:3), [MPI_INTEGER, MPI_DOUBLE_PRECISION, MPI_LOGICAL], packed, ierr)
    lb = 0
    extent = storage_size(p)/8
    call MPI_Type_create_resized(packed, lb, extent, type, ierr)
    call MPI_Type_commit(type, ierr)
    call MPI_Type_get_extent(type, lb, extent, ierr)
    call expect(lb == 0 .and. extent == storage_size(p)/8, 'extent')
    do i = 1, 3
        p(i) = point(10*rank + i, [i + 0.25d0, rank + 0.5d0], mod(rank + i, 2) == 0)
    end do
    call MPI_Sendrecv(p, 3, type, right, 1, q, 3, type, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect(all(q%id == 10*left + [1, 2, 3]), 'ids')
    call expect(q(3)%x(1) == 3.25d0 .and. q(2)%x(2) == left + 0.5d0, 'coordinates')
    call expect(q(1)%inside .eqv. mod(left + 1, 2) == 0, 'logical')
    call MPI_Type_free(packed, ierr)
    call MPI_Type_free(type, ierr)

    do i = 1, 5
        grid(:, i) = 100*rank + 10*i + [1, 2, 3, 4, 5, 6]
    end do
    call MPI_Type_create_subarray(2, [6, 5], [2, 3], [3, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    call MPI_Sendrecv(grid, 1, type, right, 2, block, 6, MPI_INTEGER, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect(all(block(1, :) == 100*left + [24, 34, 44]), 'first row')
    call expect(all(block(2, :) == 100*left + [25, 35, 45]), 'second row')
    call MPI_Type_free(type, ierr)

    call MPI_Type_create_f90_real(15, 100, type, ierr)
    r = [rank + 0.125_real15, 1e90_real15]
    call MPI_Sendrecv(r, 2, type, right, 3, s, 2, type, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect(all(s == [left + 0.125_real15, 1e90_real15]), 'f90_real')
    call MPI_Type_create_f90_integer(12, type, ierr)
    k = 10_int12**12 + rank
    call MPI_Allreduce(k, m, 1, type, MPI_MAX, MPI_COMM_WORLD, ierr)
    call expect(m == 10_int12**12 + ranks - 1, 'f90_integer')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, type, ierr)
    call expect(type == MPI_REAL8, 'match_size')
    call MPI_Sizeof(k, n, ierr)
    call MPI_Type_size_x(MPI_INTEGER8, bytes, ierr)
    call expect(n == 8 .and. bytes == 8, 'sizeof')
    digest = sum(block) + sum(q%id)
    call finish('mpi/types')
contains
    include 'check.inc'
end subroutine
