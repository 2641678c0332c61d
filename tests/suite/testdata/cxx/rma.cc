// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// One-sided communication: memory attached later, many updates of one place, shared
// memory.

#include "check.h"

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    const int n = c.ranks, right = c.right();

    // A dynamic window: the owner tells the address.
    MPI_Win win;
    std::vector<long> memory(n, -1);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory.data(), n * sizeof(long));
    MPI_Aint mine;
    std::vector<MPI_Aint> theirs(n);
    MPI_Get_address(memory.data(), &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, theirs.data(), 1, MPI_AINT, MPI_COMM_WORLD);
    long value = 10 * c.rank;
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++)
        MPI_Put(&value, 1, MPI_LONG, i, MPI_Aint_add(theirs[i], c.rank * sizeof(long)), 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++)
        c.expect(memory[i] == 10 * i, "put");
    MPI_Win_detach(win, memory.data());
    MPI_Win_free(&win);

    // Tickets: all draw from one counter, nobody gets the same.
    long *counter;
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win);
    counter[0] = counter[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    const long one = 1;
    for (int i = 0; i < 25; i++) {
        long ticket;
        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, n - 1, 0, MPI_SUM, win);
        MPI_Win_flush(n - 1, win);
        c.digest += ticket;
    }
    const long big = 1000 + c.rank;
    MPI_Accumulate(&big, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_MAX, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    long seen, nothing = 0;
    MPI_Get_accumulate(&nothing, 1, MPI_LONG, &seen, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    c.expect(seen == 1000 + n - 1, "maximum");
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);

    // Every rank of a node writes its neighbour's memory directly.
    int *base, *next, unit;
    MPI_Aint size;
    MPI_Comm node;
    int local, locals;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local);
    MPI_Comm_size(node, &locals);
    const int before = (local + locals - 1) % locals, after = (local + 1) % locals;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &base, &win);
    MPI_Win_shared_query(win, after, &size, &unit, &next);
    c.expect(size == sizeof(int) && unit == sizeof(int), "shared_query");
    MPI_Win_fence(0, win);
    *next = local;
    MPI_Win_fence(0, win);
    c.expect(*base == before, "shared");
    int *first;
    MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &first);
    c.expect(first[local] == before, "side by side");
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    c.expect(win == MPI_WIN_NULL, "free");

    // A strided part by one call.
    std::vector<int> grid(16, c.rank), rows(8);
    MPI_Datatype column;
    MPI_Type_vector(4, 2, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Win_create(grid.data(), 16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Get(rows.data(), 8, MPI_INT, right, 1, 1, column, win);
    MPI_Win_unlock(right, win);
    c.expect(rows == std::vector<int>(8, right), "strided");
    MPI_Win_free(&win);
    MPI_Type_free(&column);
    return c.finish("cxx/rma");
}
