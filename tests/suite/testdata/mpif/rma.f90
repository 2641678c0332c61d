! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! One-sided communication between fences: put, get, accumulate.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    implicit none
    include 'mpif.h'
    integer, parameter :: n = 8
    integer :: rank, ranks, wrong, ierr, left, right, win, i, group, members
    integer(8) :: digest
    integer :: mine(n), got(n)
    integer(MPI_ADDRESS_KIND) :: bytes, at

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    mine = rank
    bytes = 4*n
    call MPI_WIN_CREATE(mine, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_WIN_GET_GROUP(win, group, ierr)
    call MPI_GROUP_SIZE(group, members, ierr)
    call expect(members == ranks, 'group of the window')
    call MPI_GROUP_FREE(group, ierr)

    call MPI_WIN_FENCE(MPI_MODE_NOPRECEDE, win, ierr)
    at = 2
    got = [(10*rank + i, i=1, n)]
    call MPI_PUT(got, 3, MPI_INTEGER, right, at, 3, MPI_INTEGER, win, ierr)
    call MPI_WIN_FENCE(0, win, ierr)
    call expect(all(mine == [rank, rank, 10*left + 1, 10*left + 2, 10*left + 3, rank, rank, rank]), 'put')

    at = 0
    call MPI_GET(got, n, MPI_INTEGER, right, at, n, MPI_INTEGER, win, ierr)
    call MPI_WIN_FENCE(0, win, ierr)
    call expect(got(1) == right .and. got(3) == 10*rank + 1, 'get')

    at = 7
    do i = 0, ranks - 1
        call MPI_ACCUMULATE(rank, 1, MPI_INTEGER, i, at, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    end do
    call MPI_PUT(rank, 1, MPI_INTEGER, MPI_PROC_NULL, at, 1, MPI_INTEGER, win, ierr)
    call MPI_WIN_FENCE(MPI_MODE_NOSUCCEED, win, ierr)
    call expect(mine(8) == rank + ranks*(ranks - 1)/2, 'accumulate')
    call MPI_WIN_FREE(win, ierr)
    call expect(win == MPI_WIN_NULL, 'free')
    digest = sum(mine) + sum(got)
    call finish('mpif/rma')
contains
    include 'check.inc'
end subroutine
