// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point: what crosses a border of sizes, to oneself, in many at a time; messages
// of C++ containers.

#include "check.h"

#include <algorithm>
#include <numeric>

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    const int left = c.left(), right = c.right();

    // From eager to rendezvous, up to 4 MiB.
    for (int n = 1; n <= 1 << 20; n *= 16) {
        std::vector<int> out(n), in(n);
        std::iota(out.begin(), out.end(), c.rank);
        MPI_Status status;
        MPI_Sendrecv(out.data(), n, MPI_INT, right, n, in.data(), n, MPI_INT, left, n, MPI_COMM_WORLD, &status);
        int count;
        MPI_Get_count(&status, MPI_INT, &count);
        c.expect(count == n && status.MPI_SOURCE == left && status.MPI_TAG == n, "status");
        c.expect(in[0] == left && in[n - 1] == left + n - 1, "content");
        c.digest += in[n / 2];
    }

    // Of unknown length, found by a probe.
    std::string text(10 * (c.rank + 1), static_cast<char>('a' + c.rank));
    MPI_Request request;
    MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_CHAR, right, 1, MPI_COMM_WORLD, &request);
    MPI_Message message;
    MPI_Status status;
    int length;
    MPI_Mprobe(left, 1, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::string got(length, ' ');
    MPI_Mrecv(&got[0], length, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    c.expect(got == std::string(10 * (left + 1), static_cast<char>('a' + left)), "text");

    // To oneself.
    int x = c.rank, y = -1;
    MPI_Isend(&x, 1, MPI_INT, c.rank, 2, MPI_COMM_WORLD, &request);
    MPI_Recv(&y, 1, MPI_INT, c.rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    c.expect(y == c.rank, "to oneself");

    // A hundred messages in flight; the order of one pair and tag is kept.
    std::vector<int> out(100), in(100);
    std::vector<MPI_Request> requests(200);
    for (int i = 0; i < 100; i++) {
        out[i] = 1000 * c.rank + i;
        MPI_Isend(&out[i], 1, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 100; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[100 + i]);
    MPI_Waitall(200, requests.data(), MPI_STATUSES_IGNORE);
    c.expect(std::is_sorted(in.begin(), in.end()) && in[0] == 1000 * left, "order");

    MPI_Sendrecv_replace(out.data(), 100, MPI_INT, right, 4, MPI_PROC_NULL, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in.data(), 100, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    c.expect(in[99] == 1000 * left + 99 && out[99] == 1000 * c.rank + 99, "to one, from nobody");
    return c.finish("cxx/p2p");
}
