! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Requests that are asked without an end, matched messages, generalized requests whose
! state is the program's.

module work
    use mpi
    implicit none
    integer, save :: queries = 0, releases = 0, cancels = 0 ! of the thread
    !$omp threadprivate(queries, releases, cancels)
contains
    subroutine query(extra, status, ierr)
        integer(MPI_ADDRESS_KIND) :: extra
        integer :: status(MPI_STATUS_SIZE), ierr
        queries = queries + 1
        call MPI_Status_set_elements_x(status, MPI_BYTE, int(extra, MPI_COUNT_KIND), ierr)
        call MPI_Status_set_cancelled(status, cancels > 0, ierr)
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
        if (.not. complete) cancels = cancels + 1
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
    integer :: rank, ranks, wrong, ierr, left, right, request, message, count, status(MPI_STATUS_SIZE)
    integer(8) :: digest
    integer, asynchronous :: in(4)
    integer :: out(4)
    integer(MPI_ADDRESS_KIND) :: extra
    integer(MPI_COUNT_KIND) :: bytes
    logical :: flag

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    out = rank + [1, 2, 3, 4]
    call MPI_Irecv(in, 4, MPI_INTEGER, left, 1, MPI_COMM_WORLD, request, ierr)
    call MPI_Request_get_status(request, flag, MPI_STATUS_IGNORE, ierr)
    call MPI_Send(out, 4, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierr)
    flag = .false.
    do while (.not. flag)
        call MPI_Request_get_status(request, flag, status, ierr)
    end do
    call expect(request /= MPI_REQUEST_NULL .and. status(MPI_TAG) == 1, 'request_get_status')
    call MPI_Wait(request, status, ierr)
    call expect(all(in == left + [1, 2, 3, 4]), 'irecv')

    call MPI_Isend(out, 3, MPI_INTEGER, right, 2, MPI_COMM_WORLD, request, ierr)
    call MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, message, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call MPI_Mrecv(in, count, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierr)
    call expect(count == 3 .and. message == MPI_MESSAGE_NULL .and. in(3) == left + 3, 'mrecv')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, ierr)
    call expect(message == MPI_MESSAGE_NO_PROC, 'message of nobody')
    call MPI_Mrecv(in, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierr)

    extra = 24
    call MPI_Grequest_start(query, release, cancel, extra, request, ierr)
    call MPI_Grequest_complete(request, ierr)
    call MPI_Request_get_status(request, flag, status, ierr)
    call MPI_Get_elements_x(status, MPI_BYTE, bytes, ierr)
    call expect(flag .and. bytes == 24 .and. queries == 1 .and. releases == 0, 'query')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect(releases == 1, 'release')
    call MPI_Grequest_start(query, release, cancel, extra, request, ierr)
    call MPI_Cancel(request, ierr)
    call MPI_Grequest_complete(request, ierr)
    call MPI_Wait(request, status, ierr)
    call MPI_Test_cancelled(status, flag, ierr)
    call expect(flag .and. cancels == 1 .and. releases == 2, 'cancel')
    digest = sum(in) + 10*releases + cancels
    call finish('mpi/requests')
contains
    include 'check.inc'
end subroutine
