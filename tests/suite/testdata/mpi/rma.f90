! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! One-sided communication under locks: atomic updates, flushes, allocated windows.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    implicit none
    integer :: rank, ranks, wrong, ierr, win, right, i
    integer, asynchronous :: old, out(2), got(2)
    integer(8) :: digest
    integer(MPI_ADDRESS_KIND) :: bytes, at
    type(c_ptr) :: base
    integer, pointer :: mine(:)

    call begin
    right = mod(rank + 1, ranks)
    bytes = 4*8
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
    call c_f_pointer(base, mine, [8])
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierr)
    mine = 0
    call MPI_Win_unlock(rank, win, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)

    ! A counter at rank 0: every rank draws ten numbers.
    at = 0
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr)
    do i = 1, 10
        call MPI_Fetch_and_op(1, old, MPI_INTEGER, 0, at, MPI_SUM, win, ierr)
        call MPI_Win_flush(0, win, ierr)
        digest = digest + old
    end do
    call MPI_Win_unlock(0, win, ierr)

    ! Of all ranks, one finds the place free.
    at = 1
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr)
    call MPI_Compare_and_swap(rank + 1, 0, old, MPI_INTEGER, 0, at, win, ierr)
    call MPI_Win_unlock(0, win, ierr)
    got(1) = merge(1, 0, old == 0)
    call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(got(1) == 1, 'compare_and_swap')

    call MPI_Win_lock_all(0, win, ierr)
    at = 4
    out = [rank, -rank]
    call MPI_Put(out, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, win, ierr)
    call MPI_Win_flush(right, win, ierr)
    call MPI_Get(got, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, win, ierr)
    call MPI_Win_flush_all(win, ierr)
    call expect(all(got == [rank, -rank]), 'put and get')
    at = 2
    out = [rank, 1]
    call MPI_Get_accumulate(out, 2, MPI_INTEGER, got, 2, MPI_INTEGER, 0, at, 2, MPI_INTEGER, MPI_SUM, win, ierr)
    call MPI_Win_flush_local_all(win, ierr)
    call MPI_Win_unlock_all(win, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)

    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr)
    at = 0
    call MPI_Get(old, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, win, ierr)
    at = 2
    call MPI_Get(got, 2, MPI_INTEGER, 0, at, 2, MPI_INTEGER, win, ierr)
    call MPI_Win_unlock(0, win, ierr)
    call expect(old == 10*ranks, 'counter')
    call expect(all(got == [ranks*(ranks - 1)/2, ranks]), 'get_accumulate')
    call MPI_Win_free(win, ierr)
    call finish('mpi/rma')
contains
    include 'check.inc'
end subroutine
