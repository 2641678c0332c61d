! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! An operation on a derived type, in all collectives that reduce.

module intervals
    implicit none
    type interval
        sequence
        integer :: low, high
    end type
contains
    ! The smallest interval that holds both.
    subroutine join(in, inout, n, type)
        integer :: n, type
        type(interval) :: in(n), inout(n)
        inout%low = min(in%low, inout%low)
        inout%high = max(in%high, inout%high)
    end subroutine
end module

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi
    use intervals
    implicit none
    integer :: rank, ranks, wrong, ierr, type, op, request, i
    integer(8) :: digest
    type(interval) :: mine
    type(interval), asynchronous :: got
    type(interval), allocatable :: many(:)
    complex :: z
    integer(1) :: bits
    logical :: flag

    call begin
    call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    call MPI_Op_create(join, .true., op, ierr)
    mine = interval(-rank, 10*rank)

    call reset
    call MPI_Reduce(mine, got, 1, type, op, ranks - 1, MPI_COMM_WORLD, ierr)
    if (rank == ranks - 1) call right(0, 'reduce')
    call reset
    call MPI_Allreduce(mine, got, 1, type, op, MPI_COMM_WORLD, ierr)
    call right(0, 'allreduce')
    call reset
    call MPI_Iallreduce(mine, got, 1, type, op, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call right(0, 'iallreduce')
    call reset
    call MPI_Scan(mine, got, 1, type, op, MPI_COMM_WORLD, ierr)
    call expect(got%low == -rank .and. got%high == 10*rank, 'scan')

    allocate (many(ranks))
    many = [(interval(i - rank, i + 10*rank), i=0, ranks - 1)]
    call reset
    call MPI_Reduce_scatter_block(many, got, 1, type, op, MPI_COMM_WORLD, ierr)
    call right(rank, 'reduce_scatter_block')
    call reset
    call MPI_Reduce_scatter(many, got, [(1, i=1, ranks)], type, op, MPI_COMM_WORLD, ierr)
    call right(rank, 'reduce_scatter')
    digest = got%low + got%high
    call MPI_Op_free(op, ierr)
    call MPI_Type_free(type, ierr)

    call MPI_Allreduce(cmplx(1, rank), z, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(z == cmplx(ranks, ranks*(ranks - 1)/2), 'complex')
    call MPI_Allreduce(int(rank, 1), bits, 1, MPI_INTEGER1, MPI_BXOR, MPI_COMM_WORLD, ierr)
    call expect(ranks /= 4 .or. bits == 0, 'bxor')
    call MPI_Allreduce(rank < 2, flag, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
    call expect(flag .eqv. ranks <= 2, 'land')
    call MPI_Op_commutative(MPI_REPLACE, flag, ierr)
    call expect(.not. flag, 'replace')
    call finish('mpi/ops')
contains
    subroutine reset
        got = interval(0, 0)
    end subroutine

    subroutine right(shift, what)
        integer, intent(in) :: shift
        character(*), intent(in) :: what
        call expect(got%low == shift + 1 - ranks .and. got%high == shift + 10*(ranks - 1), what)
    end subroutine
    include 'check.inc'
end subroutine
