! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Distributed graphs, with weights, without, and with none; collectives of neighbours.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi_f08
    implicit none
    integer :: rank, ranks, wrong, ierr, left, right, in_degree, out_degree, n
    integer(8) :: digest
    integer :: sources(2), targets(2), from(2), to(2), out(3)
    integer, asynchronous :: got(3)
    integer(MPI_ADDRESS_KIND) :: at(2)
    logical :: weighted
    type(MPI_Comm) :: graph
    type(MPI_Request) :: request

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)

    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, &
        MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, in_degree, out_degree, weighted)
    call expect(in_degree == 1 .and. out_degree == 1 .and. .not. weighted, 'unweighted')
    call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED)
    call expect(sources(1) == left .and. targets(1) == right, 'neighbours')
    call MPI_Topo_test(graph, n)
    call expect(n == MPI_DIST_GRAPH, 'topo_test')
    call MPI_Neighbor_alltoall([rank], 1, MPI_INTEGER, got, 1, MPI_INTEGER, graph)
    call expect(got(1) == left, 'neighbor_alltoall')
    digest = got(1)
    call MPI_Comm_free(graph)

    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, [left, right], [3, 4], 2, [right, left], [5, 6], &
        MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, in_degree, out_degree, weighted)
    call expect(in_degree == 2 .and. out_degree == 2 .and. weighted, 'weighted')
    call MPI_Dist_graph_neighbors(graph, 2, sources, from, 2, targets, to)
    call expect(all(from == [3, 4]) .and. all(to == [5, 6]), 'weights')
    out = 10*rank + [1, 2, 3]
    got = 0
    call MPI_Neighbor_alltoallv(out, [1, 2], [0, 1], MPI_INTEGER, got, [1, 2], [0, 1], MPI_INTEGER, graph)
    call expect(all(got == [10*left + 1, 10*right + 2, 10*right + 3]), 'neighbor_alltoallv')
    at = [8_MPI_ADDRESS_KIND, 0_MPI_ADDRESS_KIND]
    got = 0
    call MPI_Ineighbor_alltoallw(out, [1, 1], [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_INTEGER], &
        got, [1, 1], at, [MPI_INTEGER, MPI_INTEGER], graph, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(got(3) == 10*left + 1 .and. got(1) == 10*right + 2, 'ineighbor_alltoallw')
    digest = digest + sum(got)
    call MPI_Comm_free(graph)

    ! All edges lead from rank 0 to the others; the others give none.
    if (rank == 0) then
        call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [0], [2], [1, 2], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph)
    else
        call MPI_Dist_graph_create(MPI_COMM_WORLD, 0, sources, targets, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph)
    end if
    call MPI_Dist_graph_neighbors_count(graph, in_degree, out_degree, weighted)
    call expect(out_degree == merge(2, 0, rank == 0), 'edges out')
    call expect(in_degree == merge(1, 0, rank == 1 .or. rank == 2), 'edges in')
    call MPI_Comm_free(graph)

    ! Ranks without neighbours have empty weights.
    if (rank < 2) then
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [1 - rank], [9], 1, [1 - rank], [9], MPI_INFO_NULL, .false., graph)
    else
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, targets, MPI_WEIGHTS_EMPTY, &
            MPI_INFO_NULL, .false., graph)
    end if
    call MPI_Dist_graph_neighbors_count(graph, in_degree, out_degree, weighted)
    call expect(weighted .and. in_degree == merge(1, 0, rank < 2), 'empty weights')
    call MPI_Comm_free(graph)
    call finish('f08/topo')
contains
    include 'check.inc'
end subroutine
