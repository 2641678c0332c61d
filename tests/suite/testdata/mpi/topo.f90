! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Graphs, and collectives of neighbours on a graph and on a ring.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi
    implicit none
    integer :: rank, ranks, wrong, ierr, graph, ring, n, i, edges, nodes, me
    integer(8) :: digest
    integer, allocatable :: index_of(:), edge(:), got(:), to(:), from(:)
    integer :: two(2), both(2)

    call begin
    ! A star: rank 0 in the middle.
    index_of = [(ranks - 1 + i, i=0, ranks - 1)]
    edge = [(i, i=1, ranks - 1), (0, i=1, ranks - 1)]
    call MPI_Graph_create(MPI_COMM_WORLD, ranks, index_of, edge, .false., graph, ierr)
    call MPI_Graphdims_get(graph, nodes, edges, ierr)
    call expect(nodes == ranks .and. edges == 2*(ranks - 1), 'graphdims_get')
    call MPI_Graph_neighbors_count(graph, rank, n, ierr)
    call expect(n == merge(ranks - 1, 1, rank == 0), 'neighbors_count')
    allocate (got(n))
    call MPI_Graph_neighbors(graph, rank, n, got, ierr)
    if (rank == 0) call expect(all(got == [(i, i=1, ranks - 1)]), 'neighbors of the middle')
    if (rank /= 0) call expect(got(1) == 0, 'neighbor of a ray')
    got = -1
    call MPI_Neighbor_allgather(10 + rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, graph, ierr)
    call expect(sum(got) == merge(sum([(10 + i, i=1, ranks - 1)]), 10, rank == 0), 'neighbor_allgather')
    digest = sum(got)
    deallocate (index_of, edge)
    allocate (index_of(ranks), edge(2*(ranks - 1)))
    call MPI_Graph_get(graph, ranks, 2*(ranks - 1), index_of, edge, ierr)
    call expect(index_of(ranks) == 2*(ranks - 1) .and. edge(ranks) == 0, 'graph_get')
    call MPI_Comm_free(graph, ierr)

    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .true., ring, ierr)
    call MPI_Comm_rank(ring, me, ierr)
    two = [10*me, 10*me + 1]
    call MPI_Neighbor_alltoall(two, 1, MPI_INTEGER, both, 1, MPI_INTEGER, ring, ierr)
    call expect(both(1) == 10*mod(me + ranks - 1, ranks) + 1, 'from the left')
    call expect(both(2) == 10*mod(me + 1, ranks), 'from the right')
    to = [me]
    from = [-1, -1]
    call MPI_Neighbor_allgatherv(to, 1, MPI_INTEGER, from, [1, 1], [1, 0], MPI_INTEGER, ring, ierr)
    call expect(from(2) == mod(me + ranks - 1, ranks) .and. from(1) == mod(me + 1, ranks), 'neighbor_allgatherv')
    call MPI_Ineighbor_alltoall(two, 1, MPI_INTEGER, both, 1, MPI_INTEGER, ring, n, ierr)
    call MPI_Wait(n, MPI_STATUS_IGNORE, ierr)
    digest = digest + sum(both)
    call MPI_Comm_free(ring, ierr)
    call finish('mpi/topo')
contains
    include 'check.inc'
end subroutine
