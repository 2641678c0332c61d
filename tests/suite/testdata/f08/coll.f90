! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Collectives with the types of mpi_f08: in place, of sections, of a type per rank.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi_f08
    implicit none
    integer :: rank, ranks, wrong, ierr, i, next
    integer, asynchronous :: x
    integer(8) :: digest
    integer, asynchronous, allocatable :: a(:), b(:), ones(:), at(:)
    type(MPI_Datatype), allocatable :: types(:)
    type(MPI_Datatype) :: pair
    type(MPI_Request) :: requests(3)

    call begin
    allocate (a(2*ranks), b(2*ranks), ones(ranks), at(ranks), types(ranks))
    ones = 1

    a = rank
    call MPI_Bcast(a(::2), ranks, MPI_INTEGER, 1, MPI_COMM_WORLD)
    call expect(all(a(::2) == 1) .and. all(a(2::2) == rank), 'bcast of a section')
    call MPI_Allreduce(MPI_IN_PLACE, a, 2*ranks, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD)
    call expect(all(a(::2) == 1) .and. all(a(2::2) == 0), 'allreduce')
    a = 0
    a(rank + 1) = rank**2
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(a(:ranks) == [(i**2, i=0, ranks - 1)]), 'allgather')
    digest = sum(a)
    if (rank == 0) then
        call MPI_Reduce(MPI_IN_PLACE, a, ranks, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
        call expect(all(a(:ranks) == [(ranks*i**2, i=0, ranks - 1)]), 'reduce')
        call MPI_Scatter(a, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    else
        call MPI_Reduce(a, b, ranks, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
        call MPI_Scatter(b, 1, MPI_INTEGER, x, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
        call expect(x == ranks*rank**2, 'scatter')
    end if
    a(:ranks) = [(10*rank + i, i=0, ranks - 1)]
    call MPI_Alltoallv(MPI_IN_PLACE, ones, ones, MPI_DATATYPE_NULL, a, ones, [(i, i=0, ranks - 1)], MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(a(:ranks) == [(10*i + rank, i=0, ranks - 1)]), 'alltoallv')

    ! Ranks 0 and 1 get pairs, the others one number; pairs lie apart.
    call MPI_Type_vector(2, 1, ranks, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    a = [(100*rank + i, i=1, 2*ranks)]
    b = 0
    at = [(4*i, i=0, ranks - 1)]
    types = MPI_INTEGER
    types(:2) = pair
    call MPI_Alltoallw(a, ones, at, types, b, ones, at, [(merge(pair, MPI_INTEGER, rank < 2), i=1, ranks)], MPI_COMM_WORLD)
    call expect(all(b(:ranks) == [(100*i + rank + 1, i=0, ranks - 1)]), 'alltoallw')
    call expect(all(b(ranks + 1:) == merge([(100*i + ranks + rank + 1, i=0, ranks - 1)], 0, rank < 2)), 'pairs')
    call MPI_Type_free(pair)

    x = merge(7, 0, rank == 1)
    b = rank
    call MPI_Ibcast(x, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Ireduce_scatter_block(MPI_IN_PLACE, b, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, requests(2))
    next = rank + 1
    call MPI_Iexscan(next, a, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(3))
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    call expect(x == 7, 'ibcast')
    call expect(all(b(:2) == ranks - 1), 'ireduce_scatter_block')
    call expect(rank == 0 .or. a(1) == rank*(rank + 1)/2, 'iexscan')
    call finish('f08/coll')
contains
    include 'check.inc'
end subroutine
