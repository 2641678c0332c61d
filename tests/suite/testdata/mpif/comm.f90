! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Communicators: groups, split, duplicates, two halves that talk and merge.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    implicit none
    include 'mpif.h'
    integer :: rank, ranks, wrong, ierr, world, even, sub, half, inter, whole, n, me, i, result
    integer(8) :: digest
    logical :: flag

    call begin
    call MPI_COMM_GROUP(MPI_COMM_WORLD, world, ierr)
    call MPI_GROUP_INCL(world, ranks/2, [(2*i, i=0, ranks/2 - 1)], even, ierr)
    call MPI_COMM_CREATE(MPI_COMM_WORLD, even, sub, ierr)
    if (mod(rank, 2) == 0) then
        call MPI_COMM_RANK(sub, me, ierr)
        call expect(me == rank/2, 'comm_create')
        call MPI_COMM_FREE(sub, ierr)
    end if
    call expect(sub == MPI_COMM_NULL, 'not a member')
    call MPI_GROUP_RANK(even, me, ierr)
    call expect((me == MPI_UNDEFINED) .eqv. (mod(rank, 2) == 1), 'group_rank')
    call MPI_GROUP_FREE(even, ierr)
    call MPI_GROUP_FREE(world, ierr)

    ! The order turned round by the key.
    call MPI_COMM_SPLIT(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
    call MPI_COMM_RANK(half, me, ierr)
    call MPI_COMM_SIZE(half, n, ierr)
    call expect(me == n - 1 - rank/2, 'split')
    call MPI_COMM_SPLIT(MPI_COMM_WORLD, MPI_UNDEFINED, 0, sub, ierr)
    call expect(sub == MPI_COMM_NULL, 'split undefined')

    ! The leaders are the highest even and the highest odd rank.
    call MPI_INTERCOMM_CREATE(half, 0, MPI_COMM_WORLD, ranks - 1 - mod(rank, 2), 9, inter, ierr)
    call MPI_COMM_TEST_INTER(inter, flag, ierr)
    call expect(flag, 'test_inter')
    call MPI_COMM_REMOTE_SIZE(inter, n, ierr)
    call expect(n == ranks/2, 'remote_size')
    call MPI_SENDRECV(rank, 1, MPI_INTEGER, me, 3, i, 1, MPI_INTEGER, me, 3, inter, MPI_STATUS_IGNORE, ierr)
    call expect(i == ieor(rank, 1), 'across')
    i = rank
    if (mod(rank, 2) == 0) then
        call MPI_BCAST(i, 1, MPI_INTEGER, merge(MPI_ROOT, MPI_PROC_NULL, me == 0), inter, ierr)
    else
        call MPI_BCAST(i, 1, MPI_INTEGER, 0, inter, ierr)
        call expect(i == ranks - 2, 'bcast across')
    end if
    call MPI_INTERCOMM_MERGE(inter, mod(rank, 2) == 1, whole, ierr)
    call MPI_COMM_RANK(whole, n, ierr)
    call expect(n == me + mod(rank, 2)*ranks/2, 'merge')
    call MPI_COMM_COMPARE(whole, MPI_COMM_WORLD, result, ierr)
    call expect(result == MPI_SIMILAR, 'similar')
    call MPI_COMM_DUP(whole, sub, ierr)
    call MPI_COMM_COMPARE(whole, sub, result, ierr)
    call expect(result == MPI_CONGRUENT, 'congruent')
    digest = 10*n + i
    call MPI_COMM_FREE(sub, ierr)
    call MPI_COMM_FREE(whole, ierr)
    call MPI_COMM_FREE(inter, ierr)
    call MPI_COMM_FREE(half, ierr)
    call finish('mpif/comm')
contains
    include 'check.inc'
end subroutine
