! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Operations of mpi_f08: buffers as C pointers, order kept or not.

module chains
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    implicit none
contains
    ! Functions a*x + b, one after the other.
    subroutine compose(in, inout, n, type)
        type(c_ptr), value :: in, inout
        integer :: n
        type(MPI_Datatype) :: type
        integer(8), pointer :: f(:, :), g(:, :)
        integer :: i
        call c_f_pointer(in, f, [2, n])
        call c_f_pointer(inout, g, [2, n])
        do i = 1, n
            g(2, i) = g(1, i)*f(2, i) + g(2, i)
            g(1, i) = g(1, i)*f(1, i)
        end do
    end subroutine

    subroutine longest(in, inout, n, type)
        type(c_ptr), value :: in, inout
        integer :: n
        type(MPI_Datatype) :: type
        real, pointer :: x(:), y(:)
        call c_f_pointer(in, x, [n])
        call c_f_pointer(inout, y, [n])
        where (abs(x) > abs(y)) y = x
    end subroutine
end module

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use chains
    implicit none
    integer :: rank, ranks, wrong, ierr, i
    integer(8) :: digest, f(2, 3), g(2, 3), want(2)
    type(MPI_Op) :: op
    type(MPI_Datatype) :: type
    type(MPI_Request) :: request
    real :: x(2)
    real, asynchronous :: y(2)
    logical :: flag

    call begin
    call MPI_Type_contiguous(2, MPI_INTEGER8, type)
    call MPI_Type_commit(type)
    call MPI_Op_create(compose, .false., op)
    call MPI_Op_commutative(op, flag)
    call expect(.not. flag, 'commutative')
    f = spread([int(rank + 2, 8), int(rank, 8)], 2, 3)
    want = [1, 0]
    do i = 0, ranks - 1
        want = [(i + 2)*want(1), (i + 2)*want(2) + i]
    end do
    call MPI_Allreduce(f, g, 3, type, op, MPI_COMM_WORLD)
    call expect(all(g(1, :) == want(1)) .and. all(g(2, :) == want(2)), 'allreduce in order')
    g = 0
    call MPI_Reduce(f, g, 3, type, op, 1, MPI_COMM_WORLD)
    call expect(rank /= 1 .or. all(g(:, 3) == want), 'reduce in order')
    call MPI_Scan(f, g, 1, type, op, MPI_COMM_WORLD)
    call expect(rank < ranks - 1 .or. all(g(:, 1) == want), 'scan in order')
    digest = g(1, 1) + g(2, 1)
    call MPI_Op_free(op)
    call expect(op == MPI_OP_NULL, 'free')
    call MPI_Type_free(type)

    call MPI_Op_create(longest, .true., op)
    x = [rank - 1.5, -real(rank)]
    call MPI_Iallreduce(x, y, 2, MPI_REAL, op, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(y(2) == 1 - ranks, 'iallreduce')
    call MPI_Reduce_local(x, y, 2, MPI_REAL, op)
    call expect(y(2) == 1 - ranks, 'reduce_local')
    call MPI_Op_free(op)

    call MPI_Allreduce(mod(rank, 2) == 1, flag, 1, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD)
    call expect(flag .eqv. mod(ranks/2, 2) == 1, 'lxor')
    call MPI_Allreduce(rank + 1, i, 1, MPI_INTEGER, MPI_PROD, MPI_COMM_WORLD)
    call expect(ranks /= 4 .or. i == 24, 'prod')
    call finish('f08/ops')
contains
    include 'check.inc'
end subroutine
