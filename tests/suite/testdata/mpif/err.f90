! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Error handlers in Fortran, errors returned, classes of errors and new ones.

module seen
    implicit none
    integer, save :: calls = 0, class = 0 ! of the thread
    !$omp threadprivate(calls, class)
end module

subroutine handle(comm, code)
    use seen
    implicit none
    include 'mpif.h'
    integer :: comm, code, ierr
    calls = calls + 1
    call MPI_ERROR_CLASS(code, class, ierr)
end subroutine

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use seen
    implicit none
    include 'mpif.h'
    external handle
    integer :: rank, ranks, wrong, ierr, handler, now, new, code, n
    integer(8) :: digest
    character(MPI_MAX_ERROR_STRING) :: text

    call begin
    call MPI_COMM_GET_ERRHANDLER(MPI_COMM_WORLD, now, ierr)
    call expect(now == MPI_ERRORS_ARE_FATAL, 'default')
    call MPI_COMM_CREATE_ERRHANDLER(handle, handler, ierr)
    call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, handler, ierr)
    call MPI_SEND(n, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierr)
    call expect(calls == 1 .and. class == MPI_ERR_RANK, 'rank')
    call MPI_SEND(n, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierr)
    call expect(calls == 2 .and. class == MPI_ERR_COUNT, 'count')
    call MPI_COMM_CALL_ERRHANDLER(MPI_COMM_WORLD, MPI_ERR_TAG, ierr)
    call expect(calls == 3 .and. class == MPI_ERR_TAG, 'call')
    call MPI_ERRHANDLER_FREE(handler, ierr)
    call expect(handler == MPI_ERRHANDLER_NULL, 'free')

    call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_SEND(n, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, ierr)
    call expect(calls == 3, 'no longer called')
    call MPI_ERROR_CLASS(ierr, class, code)
    call expect(class == MPI_ERR_TYPE, 'type')
    call MPI_ERROR_STRING(MPI_ERR_TYPE, text, n, ierr)
    call expect(n > 0 .and. index(text, 'datatype') > 0, 'string')

    call MPI_ADD_ERROR_CLASS(new, ierr)
    call MPI_ADD_ERROR_CODE(new, code, ierr)
    call MPI_ADD_ERROR_STRING(code, 'out of biscuits', ierr)
    call MPI_ERROR_CLASS(code, n, ierr)
    call expect(n == new .and. new > MPI_ERR_LASTCODE, 'new class')
    call MPI_ERROR_STRING(code, text, n, ierr)
    call expect(text == 'out of biscuits', 'new string')
    digest = n + calls
    call finish('mpif/err')
contains
    include 'check.inc'
end subroutine
