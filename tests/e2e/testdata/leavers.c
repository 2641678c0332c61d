// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* leavers HOW: each rank has two threads that use functions of libc all the time, and ends by
 * HOW in the midst of it: return, exit, _exit, exec. "stay FOLDER": none ends, and
 * "one FOLDER": only the last one does. Compiled with MPI, it has called MPI_Finalize before. */
#include "facilities.h"

#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <signal.h>
#include <stdbool.h>

static void *use(void *start)
{
    for (unsigned i = (unsigned)(unsigned long)start;; i++)
        facilities[i % FACILITIES].use();
    return NULL;
}

/* Rank 0 waits for the others. */
static void meet(const char *folder, int rank, int size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", folder, rank);
    close(creat(path, 0600));
    for (int other = 1; rank == 0 && other < size; other++) {
        snprintf(path, sizeof path, "%s/%d", folder, other);
        while (access(path, F_OK) != 0)
            usleep(1000);
    }
}

int main(int argc, char **argv)
{
    int rank = atoi(getenv("PMI_RANK")), size = atoi(getenv("PMI_SIZE"));
    char *const echo[] = {"echo", "rank ends", NULL};
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Finalize();
#endif
    for (unsigned long t = 0; t < 2; t++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, use, (void *)(t * 7 + (unsigned)rank)) != 0)
            return 2;
    }
    signal(SIGUSR1, SIG_IGN); /* by which mpiexec -disable-auto-cleanup tells of a death */
    if (argc > 2)
        meet(argv[2], rank, size);
    if (rank == 0)
        puts("ready");
    fflush(stdout);
    usleep((useconds_t)(3000 * rank));
    bool last = rank == size - 1;
    if (strcmp(argv[1], "stay") == 0 || (strcmp(argv[1], "one") == 0 && !last))
        use(NULL);
    if (strcmp(argv[1], "exit") == 0)
        exit(0);
    if (strcmp(argv[1], "_exit") == 0)
        _exit(0);
    if (strcmp(argv[1], "exec") == 0) {
        execv("/nowhere", echo); /* fails: the threads go on */
        execv("/bin/echo", echo);
    }
    return 0;
}
