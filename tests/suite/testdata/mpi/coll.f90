! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Collectives with counts that differ, and nonblocking ones.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi
    implicit none
    integer :: rank, ranks, wrong, ierr, i, total, mine, request(4)
    integer, asynchronous :: x, y, z
    integer(8) :: digest
    integer, allocatable :: counts(:), at(:), ones(:), places(:), want(:), all_of(:), part(:)

    call begin
    allocate (counts(ranks), at(ranks), ones(ranks), places(ranks))
    counts = [(i, i=1, ranks)]
    at = [(i*(i - 1)/2, i=1, ranks)]
    total = sum(counts)
    mine = rank + 1
    want = [([(100*i + x, x=1, i + 1)], i=0, ranks - 1)]
    allocate (all_of(total))

    part = [(100*rank + i, i=1, mine)]
    all_of = 0
    call MPI_Gatherv(part, mine, MPI_INTEGER, all_of, counts, at, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
    call expect(rank /= 1 .or. all(all_of == want), 'gatherv')
    part = 0
    if (rank == 1) then
        call MPI_Scatterv(all_of, counts, at, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
        part = all_of(at(2) + 1:at(2) + 2)
    else
        call MPI_Scatterv(all_of, counts, at, MPI_INTEGER, part, mine, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
    end if
    call expect(all(part == [(100*rank + i, i=1, mine)]), 'scatterv')

    all_of = 0
    all_of(at(rank + 1) + 1:at(rank + 1) + mine) = part
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_of, counts, at, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(all_of == want), 'allgatherv')
    digest = sum(all_of)

    ! One number to every rank, from places in the opposite order.
    ones = 1
    places = [(ranks - i, i=1, ranks)]
    part = [(10*rank + i, i=1, ranks)]
    deallocate (want)
    allocate (want(ranks))
    call MPI_Alltoallv(part, ones, places, MPI_INTEGER, want, ones, [(i, i=0, ranks - 1)], MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(want == [(10*i + ranks - rank, i=0, ranks - 1)]), 'alltoallv')

    x = 0
    if (rank == 2) x = 42
    y = rank
    z = rank
    call MPI_Ibcast(x, 1, MPI_INTEGER, 2, MPI_COMM_WORLD, request(1), ierr)
    call MPI_Iallreduce(MPI_IN_PLACE, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request(2), ierr)
    call MPI_Iscan(MPI_IN_PLACE, z, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request(3), ierr)
    call MPI_Ibarrier(MPI_COMM_WORLD, request(4), ierr)
    call MPI_Waitall(4, request, MPI_STATUSES_IGNORE, ierr)
    call expect(x == 42, 'ibcast')
    call expect(y == ranks*(ranks - 1)/2, 'iallreduce')
    call expect(z == rank*(rank + 1)/2, 'iscan')
    want = -1
    call MPI_Iallgather(rank, 1, MPI_INTEGER, want, 1, MPI_INTEGER, MPI_COMM_WORLD, request(1), ierr)
    call MPI_Wait(request(1), MPI_STATUS_IGNORE, ierr)
    call expect(all(want == [(i, i=0, ranks - 1)]), 'iallgather')
    call finish('mpi/coll')
contains
    include 'check.inc'
end subroutine
