! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Attributes with the callbacks of mpi_f08: copied at duplication, deleted with what
! they are on, and at the end of MPI.

module keeper
    use mpi_f08
    implicit none
    integer, save :: copies = 0, deletes = 0 ! of the thread
    !$omp threadprivate(copies, deletes)
contains
    subroutine copy(old, key, extra, value, new, flag, ierr)
        type(MPI_Comm) :: old
        integer :: key, ierr
        integer(MPI_ADDRESS_KIND) :: extra, value, new
        logical :: flag
        copies = copies + 1
        new = value + extra
        flag = old == MPI_COMM_WORLD ! not from a duplicate
        ierr = MPI_SUCCESS
    end subroutine

    subroutine delete(comm, key, value, extra, ierr)
        type(MPI_Comm) :: comm
        integer :: key, ierr
        integer(MPI_ADDRESS_KIND) :: value, extra
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
    use keeper
    implicit none
    integer :: rank, ranks, wrong, ierr, key, other
    integer(8) :: digest
    integer(MPI_ADDRESS_KIND) :: value
    type(MPI_Comm) :: dup, again
    logical :: flag

    call begin
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call expect(flag .and. value >= 32767, 'MPI_TAG_UB')
    digest = value
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, value, flag)
    call expect(flag .and. (value == MPI_ANY_SOURCE .or. value == rank), 'MPI_IO')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, value, flag)
    call expect(flag .and. value == MPI_PROC_NULL, 'MPI_HOST')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, value, flag)
    if (flag) digest = digest + value

    call MPI_Comm_create_keyval(copy, delete, key, 7_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, int(rank, MPI_ADDRESS_KIND))
    call MPI_Comm_dup(MPI_COMM_WORLD, dup)
    call MPI_Comm_get_attr(dup, key, value, flag)
    call expect(flag .and. value == rank + 7, 'copied')
    call MPI_Comm_dup(dup, again)
    call MPI_Comm_get_attr(again, key, value, flag)
    call expect(.not. flag .and. copies == 2, 'not copied')
    call MPI_Comm_free(again)
    call expect(deletes == 0, 'nothing to delete')
    call MPI_Comm_free(dup)
    call expect(deletes == 1, 'deleted with the duplicate')
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call expect(deletes == 2, 'deleted')
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 1_MPI_ADDRESS_KIND)
    call MPI_Comm_free_keyval(key)
    call expect(key == MPI_KEYVAL_INVALID, 'free')

    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, other, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, other, -5_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, dup)
    call MPI_Comm_get_attr(dup, other, value, flag)
    call expect(flag .and. value == -5, 'MPI_COMM_DUP_FN')
    call MPI_Comm_free(dup)
    call MPI_Comm_free_keyval(other)
    call finish('f08/attr')
    ! MPI_FINALIZE frees what MPI_COMM_SELF carries first.
    if (deletes /= 3) stop 2
contains
    include 'check.inc'
end subroutine
