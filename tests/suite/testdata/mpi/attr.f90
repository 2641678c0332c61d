! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Attributes of datatypes and windows, with callbacks, and those that every window has.

module counted
    use mpi
    implicit none
    integer, save :: copies = 0, deletes = 0 ! of the thread
    !$omp threadprivate(copies, deletes)
contains
    subroutine copy(type, key, extra, value, new, flag, ierr)
        integer :: type, key, ierr
        integer(MPI_ADDRESS_KIND) :: extra, value, new
        logical :: flag
        copies = copies + 1
        new = 2*value
        flag = value < extra
        ierr = MPI_SUCCESS
    end subroutine

    subroutine delete(handle, key, value, extra, ierr)
        integer :: handle, key, ierr
        integer(MPI_ADDRESS_KIND) :: extra, value
        deletes = deletes + 1
        ierr = MPI_SUCCESS
    end subroutine
end module

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use counted
    implicit none
    integer :: rank, ranks, wrong, ierr, key, type, dup, win
    integer(8) :: digest
    integer, allocatable :: memory(:)
    integer(MPI_ADDRESS_KIND) :: value, extra, bytes, base
    logical :: flag

    call begin
    extra = 100
    call MPI_Type_create_keyval(copy, delete, key, extra, ierr)
    call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)
    value = 40 + rank
    call MPI_Type_set_attr(type, key, value, ierr)
    call MPI_Type_dup(type, dup, ierr)
    call MPI_Type_get_attr(dup, key, value, flag, ierr)
    call expect(flag .and. value == 2*(40 + rank), 'copied')
    value = 200
    call MPI_Type_set_attr(type, key, value, ierr)
    call expect(deletes == 1, 'replaced')
    call MPI_Type_free(dup, ierr)
    call MPI_Type_dup(type, dup, ierr)
    call MPI_Type_get_attr(dup, key, value, flag, ierr)
    call expect(.not. flag .and. copies == 2, 'not copied')
    call MPI_Type_delete_attr(type, key, ierr)
    call MPI_Type_free(type, ierr)
    call MPI_Type_free(dup, ierr)
    call MPI_Type_free_keyval(key, ierr)
    call expect(deletes == 3, 'deleted')

    bytes = 16
    allocate (memory(4)) ! MPICH 4.0.2 tells the base rounded down to 16 bytes
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
    call expect(flag .and. value == 16, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
    call expect(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
    call MPI_Get_address(memory, base, ierr)
    call expect(flag .and. value == base, 'MPI_WIN_BASE')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierr)
    call expect(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete, key, extra, ierr)
    value = 5
    call MPI_Win_set_attr(win, key, value, ierr)
    call MPI_Win_free(win, ierr)
    call expect(deletes == 4, 'deleted with the window')
    call MPI_Win_free_keyval(key, ierr)
    digest = 10*copies + deletes
    call finish('mpi/attr')
contains
    include 'check.inc'
end subroutine
