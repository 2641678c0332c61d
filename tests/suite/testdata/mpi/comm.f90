! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Communicators: by shared memory, of a group only, named, duplicated in the background.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi
    implicit none
    integer :: rank, ranks, wrong, ierr, node, world, some, both, sub, dup, n, i, result, request
    integer(8) :: digest
    integer :: range(3, 1), of(2), mine(2)
    character(MPI_MAX_OBJECT_NAME) :: name

    call begin
    ! All ranks of this job share one machine's memory.
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, node, ierr)
    call MPI_Comm_compare(node, MPI_COMM_WORLD, result, ierr)
    call expect(result == MPI_CONGRUENT, 'split_type')

    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    range(:, 1) = [ranks - 1, 1, -1]
    call MPI_Group_range_incl(world, 1, range, some, ierr)
    call MPI_Group_translate_ranks(some, 2, [0, 1], world, of, ierr)
    call expect(of(1) == ranks - 1 .and. of(2) == ranks - 2, 'translate_ranks')
    if (rank > 0) then
        call MPI_Comm_create_group(MPI_COMM_WORLD, some, 11, sub, ierr)
        call MPI_Comm_rank(sub, i, ierr)
        call expect(i == ranks - 1 - rank, 'create_group')
        call MPI_Allreduce(rank, n, 1, MPI_INTEGER, MPI_SUM, sub, ierr)
        call expect(n == ranks*(ranks - 1)/2, 'sum in the group')
        call MPI_Comm_free(sub, ierr)
    end if
    call MPI_Group_difference(world, some, both, ierr)
    call MPI_Group_size(both, n, ierr)
    call expect(n == 1, 'difference')
    call MPI_Group_free(both, ierr)
    call MPI_Group_union(some, world, both, ierr)
    call MPI_Group_compare(both, world, result, ierr)
    call expect(result == MPI_SIMILAR, 'union')
    call MPI_Group_free(both, ierr)
    call MPI_Group_intersection(some, MPI_GROUP_EMPTY, both, ierr)
    call expect(both == MPI_GROUP_EMPTY, 'intersection')
    call MPI_Group_free(some, ierr)
    call MPI_Group_free(world, ierr)

    call MPI_Comm_get_name(MPI_COMM_WORLD, name, n, ierr)
    call expect(name == 'MPI_COMM_WORLD' .and. n == 14, 'name of the world')
    call MPI_Comm_set_name(node, 'machine', ierr)
    call MPI_Comm_get_name(node, name, n, ierr)
    call expect(name == 'machine' .and. n == 7, 'name')

    call MPI_Comm_idup(node, dup, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    ! The same tag in two communicators: the messages do not meet.
    i = ieor(rank, 1)
    mine = [rank, 1]
    call MPI_Isend(mine, 2, MPI_INTEGER, i, 5, node, request, ierr)
    call MPI_Sendrecv([rank, 2], 2, MPI_INTEGER, i, 5, of, 2, MPI_INTEGER, i, 5, dup, MPI_STATUS_IGNORE, ierr)
    call expect(all(of == [i, 2]), 'in the duplicate')
    call MPI_Recv(of, 2, MPI_INTEGER, i, 5, node, MPI_STATUS_IGNORE, ierr)
    call expect(all(of == [i, 1]), 'in the original')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    digest = of(1)*10 + of(2)
    call MPI_Comm_free(dup, ierr)
    call MPI_Comm_free(node, ierr)
    call finish('mpi/comm')
contains
    include 'check.inc'
end subroutine
