// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Each rank is connected to the system log under a name of its own. The second one ends its connection, and then all say something. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <syslog.h>

int main(int argc, char **argv)
{
    int rank, before, after;
    char name[32];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "rank%d", rank);
    openlog(name, LOG_NDELAY | LOG_PID, LOG_LOCAL0);
    before = open("/dev/null", O_RDONLY);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        closelog();
    MPI_Barrier(MPI_COMM_WORLD);
    after = open("/dev/null", O_RDONLY);
    errno = ENOENT;
    syslog(LOG_WARNING, "%d of two: %m", (before >= 0) + (after >= 0));
    syslog(LOG_MAIL | LOG_ERR, "%0*d", 3000, rank);
    closelog();
    MPI_Finalize();
    return 0;
}
