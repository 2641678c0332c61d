! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Point-to-point: nonblocking, persistent, probed; large messages, too.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi
    implicit none
    integer, parameter :: n = 50000
    integer :: rank, ranks, wrong, ierr, left, right, i, count, status(MPI_STATUS_SIZE), requests(2)
    integer(8) :: digest
    integer, asynchronous, allocatable :: out(:), in(:)
    logical :: flag

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    allocate (out(n), in(n))

    ! 200 kB: no longer eager.
    out = [(rank*n + i, i=1, n)]
    call MPI_Irecv(in, n, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(out, n, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    call expect(all(in == [(left*n + i, i=1, n)]), 'large')
    call MPI_Irecv(in, n, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Issend(out, 10, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Wait(requests(1), status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call expect(count == 10, 'issend')
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)

    call MPI_Send_init(out, 8, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Recv_init(in, 8, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(2), ierr)
    do i = 1, 5
        out(1) = 10*rank + i
        call MPI_Startall(2, requests, ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        call expect(in(1) == 10*left + i, 'persistent')
        digest = digest + in(1)
    end do
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)
    call expect(all(requests == MPI_REQUEST_NULL), 'free')

    call MPI_Iprobe(left, 77, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
    call expect(.not. flag, 'nothing is there')
    call MPI_Isend(out, rank + 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call expect(count == left + 1 .and. status(MPI_SOURCE) == left, 'probe')
    call MPI_Recv(in, count, MPI_INTEGER, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    call MPI_Recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, 4, MPI_COMM_WORLD, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call expect(count == 0, 'nobody')
    call finish('mpi/p2p')
contains
    include 'check.inc'
end subroutine
