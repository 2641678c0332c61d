// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests: some, any, persistent, partitioned, cancelled, generalized.

#include "check.h"

#include <algorithm>
#include <numeric>

struct Work {
    int queries = 0, frees = 0, cancels = 0;
};

static int query(void *extra, MPI_Status *status)
{
    static_cast<Work *>(extra)->queries++;
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    MPI_Status_set_elements(status, MPI_INT, 5);
    return MPI_Status_set_cancelled(status, static_cast<Work *>(extra)->cancels > 0);
}

static int release(void *extra)
{
    static_cast<Work *>(extra)->frees++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    static_cast<Work *>(extra)->cancels += !complete;
    return MPI_SUCCESS;
}

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    const int n = 8, left = c.left(), right = c.right();
    std::vector<int> out(n), in(n);
    std::vector<MPI_Request> sends(n), receives(n);
    std::iota(out.begin(), out.end(), 100 * c.rank);
    for (int i = 0; i < n; i++) {
        MPI_Send_init(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]);
        MPI_Recv_init(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &receives[i]);
    }
    for (int round = 0; round < 3; round++) {
        MPI_Startall(n, receives.data());
        MPI_Startall(n, sends.data());
        int indices[n], seen = 0;
        while (seen < n) {
            int count;
            MPI_Status statuses[n];
            MPI_Waitsome(n, receives.data(), &count, indices, statuses);
            for (int i = 0; i < count; i++)
                c.expect(statuses[i].MPI_TAG == indices[i] && in[indices[i]] == 100 * left + indices[i] + round, "waitsome");
            seen += count;
        }
        MPI_Waitall(n, sends.data(), MPI_STATUSES_IGNORE);
        for (int &x : out)
            x++;
    }
    for (int i = 0; i < n; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
    c.digest = std::accumulate(in.begin(), in.end(), 0L);

    // A message in parts, made ready one by one.
    MPI_Request from, to;
    std::vector<double> parts(16), got(16);
    MPI_Psend_init(parts.data(), 4, 4, MPI_DOUBLE, right, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &to);
    MPI_Precv_init(got.data(), 4, 4, MPI_DOUBLE, left, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &from);
    MPI_Start(&from);
    MPI_Start(&to);
    for (int i = 3; i >= 0; i--) {
        std::fill_n(parts.begin() + 4 * i, 4, c.rank + i);
        MPI_Pready(i, to);
    }
    MPI_Wait(&to, MPI_STATUS_IGNORE);
    MPI_Wait(&from, MPI_STATUS_IGNORE);
    c.expect(got[0] == left && got[15] == left + 3, "partitioned");
    MPI_Request_free(&to);
    MPI_Request_free(&from);

    Work work;
    MPI_Status status;
    MPI_Request request;
    int flag, count;
    MPI_Grequest_start(query, release, cancel, &work, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    c.expect(!flag, "not complete");
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_elements(&status, MPI_INT, &count);
    c.expect(work.queries == 1 && work.frees == 1 && status.MPI_TAG == 4 && count == 5, "generalized");
    MPI_Grequest_start(query, release, cancel, &work, &request);
    MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    c.expect(flag && work.cancels == 1 && work.frees == 2, "cancelled");
    MPI_Irecv(in.data(), 1, MPI_INT, left, 55, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    c.expect(flag, "cancelled receive");
    MPI_Testall(0, nullptr, &flag, MPI_STATUSES_IGNORE);
    c.expect(flag, "all of none");
    return c.finish("cxx/requests");
}
