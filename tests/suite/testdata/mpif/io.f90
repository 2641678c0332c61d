! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! A file: written at explicit offsets, read collectively through a view.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    implicit none
    include 'mpif.h'
    integer, parameter :: n = 16
    integer :: rank, ranks, wrong, ierr, fh, i, count, mode, info, status(MPI_STATUS_SIZE)
    integer(8) :: digest
    integer :: out(n), in(n)
    integer(MPI_OFFSET_KIND) :: at, bytes
    character(500) :: name
    character(MPI_MAX_INFO_VAL) :: hint
    logical :: found, atomic

    call begin
    call get_command_argument(1, name)
    call MPI_INFO_CREATE(info, ierr)
    call MPI_INFO_SET(info, 'cb_buffer_size', '65536', ierr)
    call MPI_FILE_OPEN(MPI_COMM_WORLD, name, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), info, fh, ierr)
    call expect(ierr == MPI_SUCCESS, 'open')
    call MPI_INFO_FREE(info, ierr)
    call MPI_FILE_GET_INFO(fh, info, ierr)
    call MPI_INFO_GET(info, 'cb_buffer_size', MPI_MAX_INFO_VAL, hint, found, ierr)
    call expect(found .and. hint == '65536', 'hint')
    call MPI_INFO_FREE(info, ierr)
    call MPI_FILE_GET_AMODE(fh, mode, ierr)
    call expect(mode == ior(MPI_MODE_CREATE, MPI_MODE_RDWR), 'mode')

    out = [(1000*rank + i, i=1, n)]
    at = 4*n*rank
    call MPI_FILE_WRITE_AT(fh, at, out, n/2, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call MPI_FILE_WRITE_AT_ALL(fh, at + 2*n, out(n/2 + 1), n/2, MPI_INTEGER, status, ierr)
    call MPI_GET_COUNT(status, MPI_INTEGER, count, ierr)
    call expect(count == n/2, 'written')
    call MPI_FILE_SYNC(fh, ierr)
    call MPI_BARRIER(MPI_COMM_WORLD, ierr)
    call MPI_FILE_SYNC(fh, ierr)
    call MPI_FILE_GET_SIZE(fh, bytes, ierr)
    call expect(bytes == 4*n*ranks, 'size')

    ! The part of the rank before.
    at = 4*n*mod(rank + ranks - 1, ranks)
    call MPI_FILE_SET_VIEW(fh, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
    in = 0
    at = 0
    call MPI_FILE_READ_AT_ALL(fh, at, in, n, MPI_INTEGER, status, ierr)
    call expect(all(in == [(1000*mod(rank + ranks - 1, ranks) + i, i=1, n)]), 'read')
    call MPI_FILE_SET_ATOMICITY(fh, .true., ierr)
    call MPI_FILE_GET_ATOMICITY(fh, atomic, ierr)
    call expect(atomic, 'atomicity')
    call MPI_FILE_CLOSE(fh, ierr)
    call expect(fh == MPI_FILE_NULL, 'close')
    digest = sum(in)
    call finish('mpif/io')
contains
    include 'check.inc'
end subroutine
