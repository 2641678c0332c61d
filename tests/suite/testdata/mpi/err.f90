! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Errors of files, windows and messages that are too long.

module seen
    use mpi
    implicit none
    integer, save :: files = 0, windows = 0 ! of the thread
    !$omp threadprivate(files, windows)
contains
    subroutine file_handler(file, code)
        integer :: file, code
        files = files + 1
    end subroutine

    subroutine window_handler(win, code)
        integer :: win, code
        windows = windows + 1
    end subroutine
end module

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use seen
    implicit none
    integer :: rank, ranks, wrong, ierr, fh, win, handler, class, code, requests(2), i, pair(2)
    integer, asynchronous :: memory(2)
    integer, dimension(MPI_STATUS_SIZE, 2) :: statuses
    integer(8) :: digest
    integer(MPI_ADDRESS_KIND) :: bytes, at
    character(500) :: name

    call begin
    ! Files return their errors unless told otherwise.
    call get_command_argument(1, name)
    call MPI_File_open(MPI_COMM_SELF, trim(name)//'.not.there', MPI_MODE_RDONLY, MPI_INFO_NULL, fh, ierr)
    call MPI_Error_class(ierr, class, code)
    call expect(class == MPI_ERR_NO_SUCH_FILE, 'no such file')
    call MPI_File_create_errhandler(file_handler, handler, ierr)
    call MPI_File_set_errhandler(MPI_FILE_NULL, handler, ierr)
    call MPI_File_open(MPI_COMM_SELF, trim(name)//'.not.there', MPI_MODE_RDONLY, MPI_INFO_NULL, fh, ierr)
    call expect(files == 1, 'default handler of files')
    call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierr)
    call MPI_Errhandler_free(handler, ierr)

    bytes = 8
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_create_errhandler(window_handler, handler, ierr)
    call MPI_Win_set_errhandler(win, handler, ierr)
    call MPI_Win_get_errhandler(win, i, ierr)
    call expect(i == handler, 'handler of the window')
    at = 0
    call MPI_Win_fence(0, win, ierr)
    call MPI_Put(memory, 1, MPI_INTEGER, ranks, at, 1, MPI_INTEGER, win, ierr)
    call expect(windows == 1, 'handler called')
    call MPI_Win_call_errhandler(win, MPI_ERR_OTHER, ierr)
    call expect(windows == 2, 'handler called by hand')
    call MPI_Win_fence(0, win, ierr)
    call MPI_Win_free(win, ierr)
    call MPI_Errhandler_free(handler, ierr)

    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Irecv(memory, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(1), ierr)
    pair = [1, 2]
    call MPI_Isend(pair, 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(2), ierr)
    call MPI_Waitall(2, requests, statuses, ierr)
    call MPI_Error_class(ierr, class, code)
    call expect(class == MPI_ERR_IN_STATUS, 'error in a status')
    call MPI_Error_class(statuses(MPI_ERROR, 1), class, code)
    call expect(class == MPI_ERR_TRUNCATE, 'truncated')
    digest = 100*class + 10*files + windows
    call finish('mpi/err')
contains
    include 'check.inc'
end subroutine
