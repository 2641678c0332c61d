! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Requests of mpi_f08: all, any, some, one by one; generalized with its callbacks.
! Not looked at, since the mpi_f08 of MPICH 4.0.2 has them wrong: indices, which count
! from 0, and the extra state, which is gone when the callback runs.

module work
    use mpi_f08
    implicit none
    integer, save :: queries = 0, releases = 0 ! of the thread
    !$omp threadprivate(queries, releases)
contains
    subroutine query(extra, status, ierr)
        integer(MPI_ADDRESS_KIND) :: extra
        type(MPI_Status) :: status
        integer :: ierr
        queries = queries + 1
        status%MPI_SOURCE = 88
        status%MPI_TAG = 99
        call MPI_Status_set_elements(status, MPI_INTEGER, 3)
        call MPI_Status_set_cancelled(status, .false.)
        ierr = MPI_SUCCESS
    end subroutine

    subroutine release(extra, ierr)
        integer(MPI_ADDRESS_KIND) :: extra
        integer :: ierr
        releases = releases + 1
        ierr = MPI_SUCCESS
    end subroutine

    subroutine cancel(extra, complete, ierr)
        integer(MPI_ADDRESS_KIND) :: extra
        logical :: complete
        integer :: ierr
        ierr = MPI_SUCCESS
    end subroutine
end module

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use work
    implicit none
    integer, parameter :: n = 5
    integer :: rank, ranks, wrong, ierr, left, right, i, which, done, total
    integer(8) :: digest
    integer, asynchronous :: in(n), out(n)
    integer :: indices(n)
    type(MPI_Request) :: requests(n), sends(n), request
    type(MPI_Status) :: statuses(n), status
    logical :: flag

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    out = [(100*rank + i, i=1, n)]

    call exchange
    call MPI_Waitall(n, requests, statuses)
    call expect(all(statuses%MPI_TAG == [(i, i=1, n)]) .and. all(statuses%MPI_SOURCE == left), 'waitall')
    call settle

    call exchange
    total = 0
    do i = 1, n
        call MPI_Waitany(n, requests, which, status)
        total = total + status%MPI_TAG
    end do
    call expect(total == n*(n + 1)/2, 'waitany')
    call settle

    call exchange
    total = 0
    do
        call MPI_Testsome(n, requests, done, indices, statuses)
        if (done == MPI_UNDEFINED) exit
        total = total + sum(statuses(:done)%MPI_TAG)
    end do
    call expect(total == n*(n + 1)/2, 'testsome')
    call settle

    call exchange
    total = 0
    do while (total < n)
        call MPI_Testany(n, requests, which, flag, status)
        if (flag) total = total + 1
    end do
    call settle
    call exchange
    do i = 1, n
        flag = .false.
        do while (.not. flag)
            call MPI_Test(requests(i), flag, MPI_STATUS_IGNORE)
        end do
    end do
    call settle
    digest = sum(in)

    call MPI_Grequest_start(query, release, cancel, 0_MPI_ADDRESS_KIND, request)
    call MPI_Test(request, flag, MPI_STATUS_IGNORE)
    call expect(.not. flag .and. queries == 0, 'not complete')
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_elements(status, MPI_INTEGER, i)
    call expect(status%MPI_SOURCE == 88 .and. status%MPI_TAG == 99 .and. i == 3, 'grequest')
    call expect(queries == 1 .and. releases == 1 .and. request == MPI_REQUEST_NULL, 'callbacks')

    call MPI_Irecv(in, 1, MPI_INTEGER, left, 77, MPI_COMM_WORLD, request)
    call MPI_Cancel(request)
    call MPI_Wait(request, status)
    call MPI_Test_cancelled(status, flag)
    call expect(flag, 'cancelled')
    call finish('f08/requests')
contains
    subroutine exchange
        in = 0
        do i = 1, n
            call MPI_Irecv(in(i), 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, requests(i))
            call MPI_Isend(out(i), 1, MPI_INTEGER, right, i, MPI_COMM_WORLD, sends(i))
        end do
    end subroutine

    subroutine settle
        call MPI_Waitall(n, sends, MPI_STATUSES_IGNORE)
        call expect(all(in == [(100*left + i, i=1, n)]), 'what came')
    end subroutine
    include 'check.inc'
end subroutine
