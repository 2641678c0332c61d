! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Operations: of the program, commutative or not, and the library's MINLOC and the like.

subroutine modular(in, inout, n, type)
    implicit none
    integer :: n, type, in(n), inout(n)
    inout = mod(in + inout, 1009)
end subroutine

! Products of 2x2 matrices: the order matters.
subroutine matrices(in, inout, n, type)
    implicit none
    integer :: n, type, i
    integer(8) :: in(2, 2, n), inout(2, 2, n)
    do i = 1, n
        inout(:, :, i) = matmul(in(:, :, i), inout(:, :, i))
    end do
end subroutine

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    implicit none
    include 'mpif.h'
    external modular, matrices
    integer :: rank, ranks, wrong, ierr, op, type, i, a(3), b(3), pair(2), best(2)
    integer(8) :: digest, m(2, 2), product(2, 2), want(2, 2)
    logical :: commutes

    call begin
    call MPI_OP_CREATE(modular, .true., op, ierr)
    a = [500, 600, 700] + rank
    call MPI_ALLREDUCE(a, b, 3, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
    call expect(all(b == mod([500, 600, 700]*ranks + ranks*(ranks - 1)/2, 1009)), 'modular')
    call MPI_REDUCE_LOCAL(a, b, 3, MPI_INTEGER, op, ierr)
    call expect(all(b < 1009), 'reduce_local')
    call MPI_OP_COMMUTATIVE(op, commutes, ierr)
    call expect(commutes, 'commutative')
    call MPI_OP_FREE(op, ierr)
    call expect(op == MPI_OP_NULL, 'free')

    call MPI_TYPE_CONTIGUOUS(4, MPI_INTEGER8, type, ierr)
    call MPI_TYPE_COMMIT(type, ierr)
    call MPI_OP_CREATE(matrices, .false., op, ierr)
    m = reshape([1, 0, rank, 1], [2, 2])
    if (mod(rank, 2) == 1) m = transpose(m)
    want = reshape([1, 0, 0, 1], [2, 2])
    do i = 0, ranks - 1
        product = reshape([1, 0, i, 1], [2, 2])
        if (mod(i, 2) == 1) product = transpose(product)
        want = matmul(want, product)
    end do
    call MPI_ALLREDUCE(m, product, 1, type, op, MPI_COMM_WORLD, ierr)
    call expect(all(product == want), 'in order')
    call MPI_SCAN(m, product, 1, type, op, MPI_COMM_WORLD, ierr)
    call expect(rank < ranks - 1 .or. all(product == want), 'scan in order')
    digest = sum(product)
    call MPI_OP_FREE(op, ierr)
    call MPI_TYPE_FREE(type, ierr)

    pair = [mod(rank*3 + 2, ranks), rank]
    call MPI_ALLREDUCE(pair, best, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
    call expect(best(1) == mod(best(2)*3 + 2, ranks), 'maxloc')
    call MPI_ALLREDUCE(pair, best, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, ierr)
    call expect(best(1) == mod(best(2)*3 + 2, ranks), 'minloc')
    call MPI_ALLREDUCE(rank == 1, commutes, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
    call expect(commutes, 'lor')
    call MPI_ALLREDUCE(ishft(1, rank), i, 1, MPI_INTEGER, MPI_BOR, MPI_COMM_WORLD, ierr)
    call expect(i == 2**ranks - 1, 'bor')
    call finish('mpif/ops')
contains
    include 'check.inc'
end subroutine
