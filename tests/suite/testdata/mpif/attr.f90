! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Attributes: the library's own, and some with callbacks in Fortran, of MPI-1 and later.

subroutine copy(comm, key, extra, value, new, flag, ierr)
    implicit none
    include 'mpif.h'
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: extra, value, new
    logical :: flag
    new = value + extra
    flag = .true.
    ierr = MPI_SUCCESS
end subroutine

! Refuses when the value is 13.
subroutine delete(comm, key, value, extra, ierr)
    implicit none
    include 'mpif.h'
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: extra, value
    ierr = MPI_SUCCESS
    if (value == 13) ierr = MPI_ERR_OTHER
end subroutine

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    implicit none
    include 'mpif.h'
    external copy, delete
    integer :: rank, ranks, wrong, ierr, key, old, dup, value
    integer(8) :: digest
    integer(MPI_ADDRESS_KIND) :: wide, extra
    logical :: flag

    call begin
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, wide, flag, ierr)
    call expect(flag .and. wide >= 32767, 'MPI_TAG_UB')
    digest = wide
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, wide, flag, ierr)
    call expect(flag .and. wide >= 0, 'MPI_WTIME_IS_GLOBAL')
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_APPNUM, wide, flag, ierr)
    call expect(flag .and. wide == 0, 'MPI_APPNUM')
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, wide, flag, ierr)
    if (flag) digest = digest + wide
    call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_LASTUSEDCODE, value, flag, ierr)
    call expect(flag .and. value >= MPI_ERR_LASTCODE, 'MPI_LASTUSEDCODE')

    extra = 1000
    call MPI_COMM_CREATE_KEYVAL(copy, delete, key, extra, ierr)
    wide = 2_8**40 + rank
    call MPI_COMM_SET_ATTR(MPI_COMM_WORLD, key, wide, ierr)
    call MPI_COMM_DUP(MPI_COMM_WORLD, dup, ierr)
    call MPI_COMM_GET_ATTR(dup, key, wide, flag, ierr)
    call expect(flag .and. wide == 2_8**40 + rank + 1000, 'copied')
    wide = 13
    call MPI_COMM_SET_ATTR(dup, key, wide, ierr)
    call MPI_COMM_SET_ERRHANDLER(dup, MPI_ERRORS_RETURN, ierr)
    call MPI_COMM_DELETE_ATTR(dup, key, ierr)
    call expect(ierr /= MPI_SUCCESS, 'refused')
    call MPI_COMM_DELETE_ATTR(MPI_COMM_WORLD, key, ierr)
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, key, wide, flag, ierr)
    call expect(.not. flag, 'deleted')

    call MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, old, 0, ierr)
    call MPI_ATTR_PUT(MPI_COMM_SELF, old, -rank, ierr)
    value = 1
    call MPI_ATTR_GET(MPI_COMM_SELF, old, value, flag, ierr)
    call expect(flag .and. value == -rank, 'MPI-1')
    call MPI_ATTR_DELETE(MPI_COMM_SELF, old, ierr)
    call MPI_KEYVAL_FREE(old, ierr)
    call expect(old == MPI_KEYVAL_INVALID, 'free')
    call finish('mpif/attr')
contains
    include 'check.inc'
end subroutine
