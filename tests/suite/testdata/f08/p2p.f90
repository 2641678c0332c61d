! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Point-to-point with the types of mpi_f08: optional errors, array sections as buffers.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi_f08
    implicit none
    integer, parameter :: n = 10
    integer :: rank, ranks, wrong, ierr, left, right, i, count
    integer(8) :: digest
    integer :: out(2*n)
    integer, asynchronous :: in(2*n)
    type(MPI_Status) :: status
    type(MPI_Request) :: request
    type(MPI_Message) :: message
    logical :: flag

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    out = [(100*rank + i, i=1, 2*n)]

    ! Every other element goes into the last places.
    in = 0
    call MPI_Sendrecv(out(1::2), n, MPI_INTEGER, right, 1, in(n + 1:), n, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call expect(all(in(n + 1:) == [(100*left + 2*i - 1, i=1, n)]), 'from a section')
    call expect(status%MPI_SOURCE == left .and. status%MPI_TAG == 1, 'status')
    in = 0
    call MPI_Irecv(in(2::2), n, MPI_INTEGER, left, 2, MPI_COMM_WORLD, request)
    call MPI_Send(out, n, MPI_INTEGER, right, 2, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(in(2::2) == [(100*left + i, i=1, n)]) .and. all(in(1::2) == 0), 'into a section')

    if (mod(rank, 2) == 0) then
        call MPI_Ssend(out, 3, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierr)
    else
        call MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, message, status)
        call MPI_Get_count(status, MPI_INTEGER, count)
        call expect(count == 3 .and. message /= MPI_MESSAGE_NULL, 'mprobe')
        call MPI_Imrecv(in, count, MPI_INTEGER, message, request)
        call MPI_Wait(request, status)
        call expect(in(3) == 100*left + 3 .and. message == MPI_MESSAGE_NULL, 'imrecv')
    end if
    call MPI_Improbe(left, 55, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE)
    call expect(.not. flag, 'nothing is there')

    call MPI_Sendrecv_replace(out, 2*n, MPI_INTEGER, left, 4, right, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(out(2*n) == 100*right + 2*n, 'sendrecv_replace')
    call MPI_Recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
    call expect(status%MPI_SOURCE == MPI_PROC_NULL .and. status%MPI_TAG == MPI_ANY_TAG, 'nobody')
    call expect(ierr == MPI_SUCCESS, 'error')

    call MPI_Recv_init(in, 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, request)
    call MPI_Start(request)
    call MPI_Send(rank, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(in(1) == left, 'persistent')
    call MPI_Request_free(request)
    digest = sum(out) + sum(in)
    call finish('f08/p2p')
contains
    include 'check.inc'
end subroutine
