! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Info objects, what the library tells of itself, clocks, and the constants that stand
! for "no arguments" and "no error codes", in a spawn that is refused.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    implicit none
    include 'mpif.h'
    integer :: rank, ranks, wrong, ierr, info, copy, n, major, minor, class, children
    integer(8) :: digest
    character(MPI_MAX_INFO_VAL) :: value
    character(MPI_MAX_INFO_KEY) :: key
    character(MPI_MAX_PROCESSOR_NAME) :: host
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: library
    logical :: flag
    double precision :: t

    call begin
    call MPI_INFO_CREATE(info, ierr)
    call MPI_INFO_SET(info, 'colour', '  blue  ', ierr)
    call MPI_INFO_SET(info, ' size ', '12', ierr)
    call MPI_INFO_GET_NKEYS(info, n, ierr)
    call expect(n == 2, 'nkeys')
    call MPI_INFO_GET_NTHKEY(info, 1, key, ierr)
    call expect(key == 'size', 'nthkey')
    call MPI_INFO_GET(info, 'colour', MPI_MAX_INFO_VAL, value, flag, ierr)
    call expect(flag .and. value == 'blue', 'get')
    call MPI_INFO_GET(info, 'weight', MPI_MAX_INFO_VAL, value, flag, ierr)
    call expect(.not. flag, 'get what is not there')
    call MPI_INFO_GET_VALUELEN(info, 'size', n, flag, ierr)
    call expect(flag .and. n == 2, 'valuelen')
    call MPI_INFO_DUP(info, copy, ierr)
    call MPI_INFO_DELETE(info, 'size', ierr)
    call MPI_INFO_GET_NKEYS(copy, n, ierr)
    call expect(n == 2, 'dup')
    call MPI_INFO_FREE(info, ierr)
    call MPI_INFO_FREE(copy, ierr)
    call expect(info == MPI_INFO_NULL, 'free')

    call MPI_GET_VERSION(major, minor, ierr)
    call expect(major == MPI_VERSION .and. minor == MPI_SUBVERSION, 'version')
    call MPI_GET_LIBRARY_VERSION(library, n, ierr)
    call expect(n > 0 .and. library(:5) == 'MPICH', 'library version')
    call MPI_GET_PROCESSOR_NAME(host, n, ierr)
    call expect(n > 0 .and. len_trim(host) == n, 'processor name')
    t = MPI_WTIME()
    call expect(MPI_WTIME() >= t .and. MPI_WTICK() > 0 .and. MPI_WTICK() < 1, 'clock')
    call MPI_INITIALIZED(flag, ierr)
    call expect(flag, 'initialized')
    call MPI_FINALIZED(flag, ierr)
    call expect(.not. flag, 'finalized')

    call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_COMM_SPAWN('nobody', MPI_ARGV_NULL, 1, MPI_INFO_NULL, ranks, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierr)
    call MPI_ERROR_CLASS(ierr, class, n)
    call expect(class == MPI_ERR_ROOT, 'spawn by nobody')
    digest = 10*major + minor
    call finish('mpif/info')
contains
    include 'check.inc'
end subroutine
