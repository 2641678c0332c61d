! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Error handlers of mpi_f08 on communicators, windows and files; errors that are new.

module seen
    use mpi_f08
    implicit none
    integer, save :: on_comm = 0, on_win = 0, on_file = 0, last = 0 ! of the thread
    !$omp threadprivate(on_comm, on_win, on_file, last)
contains
    subroutine comm_handler(comm, code)
        type(MPI_Comm) :: comm
        integer :: code
        on_comm = on_comm + 1
        last = code
    end subroutine

    subroutine win_handler(win, code)
        type(MPI_Win) :: win
        integer :: code
        on_win = on_win + 1
        last = code
    end subroutine

    subroutine file_handler(file, code)
        type(MPI_File) :: file
        integer :: code
        on_file = on_file + 1
        last = code
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
    integer :: rank, ranks, wrong, ierr, class, code, n
    integer, target :: memory(1)
    integer(8) :: digest
    type(MPI_Errhandler) :: handler, was
    type(MPI_Win) :: win
    type(MPI_File) :: fh
    character(500) :: name
    character(MPI_MAX_ERROR_STRING) :: text

    call begin
    call MPI_Comm_create_errhandler(comm_handler, handler)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, was)
    call expect(was == handler, 'get_errhandler')
    call MPI_Errhandler_free(was)
    call MPI_Bcast(memory, 1, MPI_INTEGER, -9, MPI_COMM_WORLD, ierr)
    call MPI_Error_class(last, class)
    call expect(on_comm == 1 .and. class == MPI_ERR_ROOT .and. ierr == last, 'root')
    call MPI_Send(memory, 1, MPI_INTEGER, 0, -9, MPI_COMM_WORLD, ierr)
    call MPI_Error_class(last, class)
    call expect(on_comm == 2 .and. class == MPI_ERR_TAG, 'tag')

    call MPI_Win_create(memory, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_create_errhandler(win_handler, handler)
    call MPI_Win_set_errhandler(win, handler)
    call MPI_Win_call_errhandler(win, MPI_ERR_DISP)
    call expect(on_win == 1 .and. last == MPI_ERR_DISP, 'window')
    call MPI_Win_unlock(0, win, ierr)
    call expect(on_win == 2 .and. ierr /= MPI_SUCCESS, 'unlock without lock')
    call MPI_Win_free(win)

    call get_command_argument(1, name)
    call MPI_File_open(MPI_COMM_WORLD, trim(name), MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, fh)
    call MPI_File_create_errhandler(file_handler, handler)
    call MPI_File_set_errhandler(fh, handler)
    call MPI_File_read(fh, memory, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call MPI_Error_class(last, class)
    call expect(on_file == 1 .and. class == MPI_ERR_ACCESS, 'file')
    call MPI_File_close(fh)

    call MPI_Add_error_class(class)
    call MPI_Add_error_string(class, 'too windy')
    call MPI_Error_string(class, text, n)
    call expect(text == 'too windy' .and. n == 9, 'new class')
    call MPI_Add_error_code(MPI_ERR_IO, code)
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_IO, 'new code')
    digest = 100*on_comm + 10*on_win + on_file
    call finish('f08/err')
contains
    include 'check.inc'
end subroutine
