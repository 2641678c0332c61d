// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations: functions of the program that need the datatype, keep the order, or keep
// count.

#include "check.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

static std::atomic<long> calls; // of all ranks of the process

// Strings of 16 bytes, joined.
static void join(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *n; i++) {
        char *a = static_cast<char *>(in) + i * size, *b = static_cast<char *>(inout) + i * size;
        const std::string text = std::string(a) + b;
        memcpy(b, text.c_str(), std::min<size_t>(size, text.size() + 1));
    }
    calls++;
}

struct Peak {
    double height;
    long where;
};

static void higher(void *in, void *inout, int *n, MPI_Datatype *)
{
    auto *a = static_cast<Peak *>(in), *b = static_cast<Peak *>(inout);
    for (int i = 0; i < *n; i++)
        if (a[i].height > b[i].height)
            b[i] = a[i];
}

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    MPI_Datatype text;
    MPI_Op op;
    MPI_Type_contiguous(16, MPI_CHAR, &text);
    MPI_Type_commit(&text);
    MPI_Op_create(join, 0, &op);
    char mine[2][16] = {"", ""}, all[2][16] = {"", ""};
    mine[0][0] = static_cast<char>('a' + c.rank);
    mine[1][0] = static_cast<char>('A' + c.rank);
    const std::string want = std::string("abcdefgh").substr(0, c.ranks), capital = std::string("ABCDEFGH").substr(0, c.ranks);
    MPI_Allreduce(mine, all, 2, text, op, MPI_COMM_WORLD);
    c.expect(all[0] == want && all[1] == capital, "in order");
    MPI_Reduce(c.rank == 0 ? MPI_IN_PLACE : mine[0], c.rank == 0 ? mine[0] : nullptr, 1, text, op, 0, MPI_COMM_WORLD);
    c.expect(c.rank != 0 || mine[0] == want, "reduce in place");
    MPI_Exscan(mine[1], all[1], 1, text, op, MPI_COMM_WORLD);
    c.expect(c.rank == 0 || all[1] == capital.substr(0, c.rank), "exscan");
    c.expect(calls > 0, "called");
    MPI_Op_free(&op);
    MPI_Type_free(&text);

    const int lengths[] = {1, 1};
    const MPI_Aint at[] = {offsetof(Peak, height), offsetof(Peak, where)};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_LONG};
    MPI_Datatype peak;
    MPI_Type_create_struct(2, lengths, at, types, &peak);
    MPI_Type_commit(&peak);
    MPI_Op_create(higher, 1, &op);
    Peak p[2] = {{-1.0 * c.rank, c.rank}, {c.rank * (c.ranks - c.rank) + 0.5, c.rank}}, top[2];
    MPI_Request request;
    MPI_Iallreduce(p, top, 2, peak, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    c.expect(top[0].where == 0 && top[1].where == c.ranks / 2, "peaks");
    int commutes;
    MPI_Op_commutative(op, &commutes);
    c.expect(commutes, "commutative");
    MPI_Op_free(&op);
    MPI_Type_free(&peak);

    struct {
        double value;
        int rank;
    } mark = {(c.rank * 7) % 5 * 1.0, c.rank}, low;
    MPI_Allreduce(&mark, &low, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    c.expect(low.value == 0 && low.rank == 0, "minloc");
    unsigned char bit = static_cast<unsigned char>(1 << c.rank), bits;
    MPI_Allreduce(&bit, &bits, 1, MPI_UNSIGNED_CHAR, MPI_BOR, MPI_COMM_WORLD);
    c.expect(bits == (1 << c.ranks) - 1, "bor");
    c.digest = top[1].where + bits;
    return c.finish("cxx/ops");
}
