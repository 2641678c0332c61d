! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Windows that ranks share, and access that both sides announce.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    implicit none
    integer, parameter :: n = 4
    integer :: rank, ranks, wrong, ierr, left, right, unit, i
    integer(8) :: digest
    type(MPI_Win) :: win
    type(MPI_Group) :: world, before, after
    type(c_ptr) :: base
    integer, pointer, volatile :: mine(:), theirs(:)
    integer, asynchronous :: exposed(n), out(2), got(n)
    integer(MPI_ADDRESS_KIND) :: bytes
    type(MPI_Request) :: request

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)

    bytes = 4*n
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, mine, [n])
    call MPI_Win_shared_query(win, right, bytes, unit, base)
    call expect(bytes == 4*n .and. unit == 4, 'shared_query')
    call c_f_pointer(base, theirs, [n])
    call MPI_Win_lock_all(MPI_MODE_NOCHECK, win)
    mine = 10*rank + [1, 2, 3, 4]
    call MPI_Win_sync(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_sync(win)
    got = theirs
    call expect(all(got == 10*right + [1, 2, 3, 4]), 'the neighbour''s memory')
    digest = sum(got)
    call MPI_Barrier(MPI_COMM_WORLD)
    theirs(1) = -rank
    call MPI_Win_sync(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_sync(win)
    i = mine(1)
    call expect(i == -left, 'stored by the neighbour')
    call MPI_Win_unlock_all(win)
    call MPI_Win_free(win)

    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_incl(world, 1, [left], before)
    call MPI_Group_incl(world, 1, [right], after)
    exposed = 0
    call MPI_Win_create(exposed, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_post(before, 0, win)
    call MPI_Win_start(after, 0, win)
    out = [rank, rank + 1]
    call MPI_Put(out, 2, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win)
    call MPI_Accumulate(out(2:2), 1, MPI_INTEGER, right, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_REPLACE, win)
    call MPI_Win_complete(win)
    call MPI_Win_wait(win)
    call expect(all(exposed == [0, left, left + 1, left + 1]), 'post, start, complete, wait')
    call MPI_Barrier(MPI_COMM_WORLD)

    call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win)
    call MPI_Rget(got, n, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, n, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(got(2) == rank, 'rget')
    call MPI_Raccumulate(out, 1, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_unlock(right, win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win)
    call expect(exposed(1) == left, 'raccumulate')
    call MPI_Win_unlock(rank, win)
    call MPI_Win_free(win)
    call MPI_Group_free(before)
    call MPI_Group_free(after)
    call MPI_Group_free(world)
    call finish('f08/rma')
contains
    include 'check.inc'
end subroutine
