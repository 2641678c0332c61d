! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Communicators of mpi_f08, their handles in the older interfaces and in C, which is
! called with them; two groups that talk.

module c_api
    implicit none
    interface
        ! int MPI_Comm_rank(MPI_Comm, int *): in C, MPICH's handles are numbers.
        integer(c_int) function c_comm_rank(comm, rank) bind(c, name='MPI_Comm_rank')
            use, intrinsic :: iso_c_binding, only: c_int
            integer(c_int), value :: comm
            integer(c_int) :: rank
        end function
        integer(c_int) function c_allreduce(in, out, n, type, op, comm) bind(c, name='MPI_Allreduce')
            use, intrinsic :: iso_c_binding, only: c_int
            integer(c_int) :: in, out
            integer(c_int), value :: n, type, op, comm
        end function
    end interface
end module

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi_f08
    use c_api
    implicit none
    integer :: rank, ranks, wrong, ierr, n, me, old_style(MPI_STATUS_SIZE)
    integer(8) :: digest
    type(MPI_Comm) :: half, inter, whole, copy
    type(MPI_Group) :: mine, theirs, empty
    type(MPI_Status) :: status
    integer, allocatable :: all_of(:)
    logical :: flag

    call begin
    call MPI_Comm_split(MPI_COMM_WORLD, rank/(ranks/2), rank, half)
    call MPI_Comm_rank(half, me)
    call expect(me == mod(rank, ranks/2), 'split')

    ! The same communicator through C.
    call expect(c_comm_rank(half%MPI_VAL, n) == MPI_SUCCESS .and. n == me, 'rank from C')
    ierr = c_allreduce(rank, n, 1, MPI_INTEGER%MPI_VAL, MPI_SUM%MPI_VAL, half%MPI_VAL)
    call MPI_Allreduce(rank, me, 1, MPI_INTEGER, MPI_SUM, half)
    call expect(n == me, 'sum from C')
    copy%MPI_VAL = half%MPI_VAL
    call expect(copy == half .and. copy /= MPI_COMM_WORLD, 'handles')
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 8, n, 1, MPI_INTEGER, rank, 8, MPI_COMM_WORLD, status)
    call MPI_Status_f082f(status, old_style)
    call expect(old_style(MPI_TAG) == 8 .and. old_style(MPI_SOURCE) == rank, 'old status')
    old_style(MPI_TAG) = 9
    call MPI_Status_f2f08(old_style, status)
    call expect(status%MPI_TAG == 9, 'new status')

    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, merge(ranks/2, 0, rank < ranks/2), 1, inter)
    call MPI_Comm_test_inter(inter, flag)
    call MPI_Comm_group(inter, mine)
    call MPI_Comm_remote_group(inter, theirs)
    call MPI_Group_intersection(mine, theirs, empty)
    call expect(flag .and. empty == MPI_GROUP_EMPTY, 'groups')
    call MPI_Group_free(mine)
    call MPI_Group_free(theirs)
    allocate (all_of(ranks/2))
    call MPI_Allgather(rank, 1, MPI_INTEGER, all_of, 1, MPI_INTEGER, inter)
    call expect(all(all_of/(ranks/2) == 1 - rank/(ranks/2)), 'allgather across')
    digest = sum(all_of)
    call MPI_Barrier(inter)
    call MPI_Intercomm_merge(inter, rank < ranks/2, whole)
    call MPI_Comm_rank(whole, n)
    call expect(n == mod(rank + ranks/2, ranks), 'merge')

    call MPI_Comm_dup(whole, copy)
    call MPI_Comm_compare(whole, copy, n)
    call expect(n == MPI_CONGRUENT, 'compare')
    call MPI_Comm_free(copy)
    call MPI_Comm_free(whole)
    call MPI_Comm_disconnect(inter)
    call MPI_Comm_free(half)
    call expect(half == MPI_COMM_NULL .and. inter == MPI_COMM_NULL, 'free')
    call finish('f08/comm')
contains
    include 'check.inc'
end subroutine
