! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Requests: all, any and some of them, and generalized ones with callbacks in Fortran.

subroutine query(extra, status, ierr)
    implicit none
    include 'mpif.h'
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierr
    call MPI_STATUS_SET_ELEMENTS(status, MPI_INTEGER, int(extra), ierr)
    call MPI_STATUS_SET_CANCELLED(status, .false., ierr)
    status(MPI_SOURCE) = 5
    status(MPI_TAG) = 6
    ierr = MPI_SUCCESS
end subroutine

subroutine release(extra, ierr)
    implicit none
    include 'mpif.h'
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierr
    ierr = MPI_SUCCESS
end subroutine

subroutine cancel(extra, complete, ierr)
    implicit none
    include 'mpif.h'
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierr
    ierr = MPI_SUCCESS
end subroutine

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    implicit none
    include 'mpif.h'
    external query, release, cancel
    integer, parameter :: n = 4
    integer :: rank, ranks, wrong, ierr, left, right, i, which, done, sum_of, count
    integer(8) :: digest
    integer :: out(n), requests(2*n), statuses(MPI_STATUS_SIZE, 2*n), indices(2*n), status(MPI_STATUS_SIZE)
    integer, asynchronous :: in(n)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: flag

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    out = [(100*rank + i, i=1, n)]

    call start
    call MPI_WAITALL(2*n, requests, MPI_STATUSES_IGNORE, ierr)
    call expect(all(in == [(100*left + i, i=1, n)]), 'waitall')
    call expect(all(requests == MPI_REQUEST_NULL), 'null')

    call start
    call MPI_WAITALL(2*n, requests, statuses, ierr)
    call expect(all(statuses(MPI_TAG, :n) == [(i, i=1, n)]), 'statuses')
    call expect(all(statuses(MPI_SOURCE, :n) == left), 'sources')

    call start
    sum_of = 0
    do i = 1, 2*n
        call MPI_WAITANY(2*n, requests, which, status, ierr)
        sum_of = sum_of + which
        if (which <= n) call expect(status(MPI_TAG) == which, 'waitany')
    end do
    call expect(sum_of == n*(2*n + 1), 'each once')
    call expect(all(requests == MPI_REQUEST_NULL), 'none is left')

    call start
    sum_of = 0
    do
        call MPI_WAITSOME(2*n, requests, done, indices, MPI_STATUSES_IGNORE, ierr)
        if (done == MPI_UNDEFINED) exit
        sum_of = sum_of + sum(indices(:done))
    end do
    call expect(sum_of == n*(2*n + 1), 'waitsome')

    call start
    do
        call MPI_TESTSOME(2*n, requests, done, indices, statuses, ierr)
        if (done == MPI_UNDEFINED) exit
    end do
    call start
    flag = .false.
    do while (.not. flag)
        call MPI_TESTALL(2*n, requests, flag, MPI_STATUSES_IGNORE, ierr)
    end do
    call expect(all(in == [(100*left + i, i=1, n)]), 'testall')

    extra = 17
    call MPI_GREQUEST_START(query, release, cancel, extra, requests(1), ierr)
    call MPI_TEST(requests(1), flag, status, ierr)
    call expect(.not. flag, 'not complete')
    call MPI_GREQUEST_COMPLETE(requests(1), ierr)
    call MPI_WAIT(requests(1), status, ierr)
    call MPI_GET_ELEMENTS(status, MPI_INTEGER, count, ierr)
    call expect(count == 17 .and. status(MPI_SOURCE) == 5 .and. status(MPI_TAG) == 6, 'grequest')

    call MPI_IRECV(in, n, MPI_INTEGER, left, 99, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_CANCEL(requests(1), ierr)
    call MPI_WAIT(requests(1), status, ierr)
    call MPI_TEST_CANCELLED(status, flag, ierr)
    call expect(flag, 'cancelled')
    digest = sum(in)
    call finish('mpif/requests')
contains
    subroutine start
        integer :: k
        do k = 1, n
            call MPI_IRECV(in(k), 1, MPI_INTEGER, left, k, MPI_COMM_WORLD, requests(k), ierr)
        end do
        do k = 1, n
            call MPI_ISEND(out(k), 1, MPI_INTEGER, right, k, MPI_COMM_WORLD, requests(n + k), ierr)
        end do
    end subroutine
    include 'check.inc'
end subroutine
