/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * left: what a process that runs on has more than at its start, once all its ranks have
 * called MPI_Finalize; and whether it had more between. Compiles for plain MPI, too.
 */
#include <mpi.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX = 1024, TEXT = 256 };
struct state {
    char descriptor[MAX][TEXT]; /* what each is; empty: not open */
    int descriptors, segments, threads;
};

static int count(const char *folder)
{
    int n = -2; /* . and .. */
    DIR *d = opendir(folder);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static struct state *look(void)
{
    struct state *s = calloc(1, sizeof *s);
    for (int fd = 0; fd < MAX; fd++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        s->descriptors += readlink(path, s->descriptor[fd], TEXT - 1) > 0;
    }
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        s->segments += strstr(line, "-s ") || strstr(line, "s 0000"); /* MAP_SHARED: proc_pid_maps(5) */
    fclose(maps);
    s->threads = count("/proc/self/task");
    return s;
}

static void traffic(void)
{
    enum { BYTES = 1 << 20 };
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = calloc(1, BYTES), *in = calloc(1, BYTES);
    MPI_Sendrecv(out, BYTES, MPI_CHAR, (rank + 1) % size, 0, in, BYTES, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    struct state *before = look(), *between = NULL, *after;
#ifdef TPSL
#pragma omp parallel
#endif
    {
        int rank;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        traffic();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            between = look();
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    after = look();
    if (between) /* the process with rank 0 */
        printf("between: %s descriptors, %s segments\n", between->descriptors > before->descriptors ? "more" : "no", between->segments > before->segments ? "more" : "no");
    for (int fd = 0; fd < MAX; fd++)
        if (*after->descriptor[fd] && strcmp(after->descriptor[fd], before->descriptor[fd]) != 0)
            printf("left: %s\n", after->descriptor[fd]);
    if (after->segments > before->segments)
        printf("left: %d shared mappings\n", after->segments - before->segments);
    return 0;
}
