! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Blocking collectives, in place wherever MPI allows it.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    implicit none
    include 'mpif.h'
    integer :: rank, ranks, wrong, ierr, i
    integer(8) :: digest
    integer, allocatable :: a(:), ones(:)
    double precision :: x(3)

    call begin
    allocate (a(ranks), ones(ranks))
    ones = 1

    x = 0
    if (rank == 1) x = [1.5d0, 2.5d0, 3.5d0]
    call MPI_BCAST(x, 3, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
    call expect(sum(x) == 7.5d0, 'bcast')

    a = rank
    if (rank == 0) then
        call MPI_REDUCE(MPI_IN_PLACE, a, ranks, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
        call expect(all(a == ranks*(ranks - 1)/2), 'reduce')
    else
        call MPI_REDUCE(a, i, ranks, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    end if
    a = rank
    call MPI_ALLREDUCE(MPI_IN_PLACE, a, ranks, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    call expect(all(a == ranks - 1), 'allreduce')

    a = 0
    a(rank + 1) = 7*rank
    if (rank == 0) then
        call MPI_GATHER(MPI_IN_PLACE, 1, MPI_INTEGER, a, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        call expect(all(a == [(7*i, i=0, ranks - 1)]), 'gather')
        a = a + 1
        call MPI_SCATTER(a, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    else
        call MPI_GATHER(a(rank + 1), 1, MPI_INTEGER, i, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        call MPI_SCATTER(i, 1, MPI_INTEGER, a(rank + 1), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        call expect(a(rank + 1) == 7*rank + 1, 'scatter')
    end if

    a = 0
    a(rank + 1) = rank + 10
    call MPI_ALLGATHER(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(a == [(i + 10, i=0, ranks - 1)]), 'allgather')
    a = [(100*rank + i, i=0, ranks - 1)]
    call MPI_ALLTOALL(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(a == [(100*i + rank, i=0, ranks - 1)]), 'alltoall')
    digest = sum(a)

    i = rank + 1
    call MPI_SCAN(MPI_IN_PLACE, i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(i == (rank + 1)*(rank + 2)/2, 'scan')
    i = rank + 1
    call MPI_EXSCAN(MPI_IN_PLACE, i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(rank == 0 .or. i == rank*(rank + 1)/2, 'exscan')
    a = [(rank*i, i=1, ranks)]
    call MPI_REDUCE_SCATTER(MPI_IN_PLACE, a, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(a(1) == (rank + 1)*ranks*(ranks - 1)/2, 'reduce_scatter')
    call MPI_BARRIER(MPI_COMM_WORLD, ierr)
    call finish('mpif/coll')
contains
    include 'check.inc'
end subroutine
