// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Topologies: a torus of two dimensions, a directed graph with weights and without, and
// collectives of neighbours.

#include "check.h"

#include <algorithm>

static void torus(Check &c)
{
    int dims[2] = {0, 0}, coords[2];
    const int periods[2] = {1, 1};
    MPI_Comm grid;
    MPI_Dims_create(c.ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    int me, around[4], got[4];
    MPI_Comm_rank(grid, &me);
    MPI_Cart_coords(grid, me, 2, coords);
    MPI_Cart_shift(grid, 0, 1, &around[0], &around[1]);
    MPI_Cart_shift(grid, 1, 1, &around[2], &around[3]);
    MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, grid);
    c.expect(std::equal(around, around + 4, got), "neighbours of a torus");
    int out[4] = {10 * me, 10 * me + 1, 10 * me + 2, 10 * me + 3};
    MPI_Request request;
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, got, 1, MPI_INT, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    c.expect(got[0] / 10 == around[0] && got[3] / 10 == around[3], "exchange on a torus");
    const int keep[2] = {0, 1};
    MPI_Comm row;
    MPI_Cart_sub(grid, keep, &row);
    int n;
    MPI_Comm_size(row, &n);
    c.expect(n == dims[1], "row");
    c.digest = 10 * coords[0] + coords[1];
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

static void graph(Check &c)
{
    // Every rank names all its edges: to the ranks above it.
    std::vector<int> above, weights;
    above.reserve(c.ranks); // Open MPI refuses NULL even for none
    for (int i = c.rank + 1; i < c.ranks; i++) {
        above.push_back(i);
        weights.push_back(i - c.rank);
    }
    const int degree = static_cast<int>(above.size());
    MPI_Comm comm;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &c.rank, &degree, above.data(), degree ? weights.data() : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm);
    int in, out, weighted;
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    c.expect(in == c.rank && out == degree && weighted, "weighted");
    std::vector<int> from(in), from_weights(in), to(out), to_weights(out);
    MPI_Dist_graph_neighbors(comm, in, from.data(), from_weights.data(), out, to.data(), to_weights.data());
    for (int i = 0; i < in; i++)
        c.expect(from_weights[i] == c.rank - from[i], "weight");
    std::sort(to.begin(), to.end());
    c.expect(to == above, "targets");
    std::vector<int> got(in + 1); // MPICH refuses NULL even for none
    MPI_Neighbor_allgather(&c.rank, 1, MPI_INT, got.data(), 1, MPI_INT, comm);
    got.pop_back();
    c.expect(got == from, "from below");
    MPI_Comm_free(&comm);

    const int left = c.left(), right = c.right();
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    c.expect(in == 1 && out == 1 && !weighted, "unweighted");
    std::vector<char> text(c.rank + 1, static_cast<char>('a' + c.rank)), came(left + 1);
    const int n = c.rank + 1, m = left + 1, zero = 0;
    MPI_Neighbor_alltoallv(text.data(), &n, &zero, MPI_CHAR, came.data(), &m, &zero, MPI_CHAR, comm);
    c.expect(came == std::vector<char>(m, static_cast<char>('a' + left)), "alltoallv");
    MPI_Comm_free(&comm);
}

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    torus(c);
    graph(c);
    return c.finish("cxx/topo");
}
