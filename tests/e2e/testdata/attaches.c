// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* attaches LIBRARY: each rank shares its memory by XPMEM, and writes to the memory of the next one. A child, which has a memory of
 * its own, tries the same. Each rank has a copy of LIBRARY (attach.c). */
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef TPSL_H
#define OPEN(library) TPSL_Dlopen(library)
#define FIND(library, name) TPSL_Dlsym(library, name)
#define WHY TPSL_Dlerror()
#else
#define OPEN(library) dlopen(library, RTLD_NOW)
#define FIND(library, name) dlsym(library, name)
#define WHY dlerror()
#endif

enum { MOST = 16, PAGE = 4096 };

struct place {
    long segid;
    int *words;
};

struct xpmem {
    long (*share)(void);
    void *(*find)(long, void *, size_t);
    int (*leave)(long, void *);
    int (*wrong_step)(void);
};

/* The error of a child that wants what its parent can have. */
static const char *child_error(const struct xpmem *x, const struct place *p)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(x->find(p->segid, p->words, PAGE) ? 0 : errno);
    waitpid(child, &status, 0);
    return strerror(WEXITSTATUS(status));
}

static void exchange(const struct xpmem *x, int rank, int ranks)
{
    struct place mine = {x->share(), aligned_alloc(PAGE, PAGE)}, places[MOST];
    mine.words[0] = rank;
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    const struct place *next = &places[(rank + 1) % ranks];
    if (mine.segid < 0) {
        printf("rank %d: cannot share\n", rank);
        return;
    }
    int *found = x->find(next->segid, next->words, PAGE), read = found ? found[0] : -1;
    if (found)
        found[1] = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: read %d, written by %d, child: %s, left %d, wrong step %d\n", rank, read, mine.words[1], child_error(x, next), x->leave(next->segid, found),
           x->wrong_step());
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int rank, ranks;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        void *library = OPEN(argv[1]);
        if (library == NULL) {
            printf("rank %d: %s\n", rank, WHY);
        } else {
            struct xpmem x = {FIND(library, "share"), FIND(library, "find"), FIND(library, "leave"), FIND(library, "wrong_step")};
            exchange(&x, rank, ranks);
        }
        MPI_Finalize();
    }
    return 0;
}
