// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Two ranks copy from each other by process_vm_readv and by messages. With an argument,
 * rank 1 executes the program once more before it begins: it is in a memory of its own
 * then. */
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WORDS = 1 << 20 };

struct place {
    pid_t pid;
    int *words;
};

static const char *result(ssize_t n)
{
    return n > 0 ? "copied" : strerror(errno);
}

static const char *copy(pid_t pid, void *from, int *to)
{
    struct iovec local = {to, sizeof *to}, remote = {from, sizeof *to};
    return result(process_vm_readv(pid, &local, 1, &remote, 1, 0));
}

static void end(int number)
{
    _exit(number);
}

int main(int argc, char **argv)
{
    int rank, wrong = 0, first = -1, *out = malloc(WORDS * sizeof *out), *in = malloc(WORDS * sizeof *in);
    struct place places[2];
    if (argc > 1 && atoi(getenv("PMI_RANK")) == 1)
        execl(argv[0], argv[0], (char *)NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < WORDS; i++)
        out[i] = rank * WORDS + i;
    struct place mine = {getpid(), out};
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    const struct place *other = &places[1 - rank];
    const char *one = copy(other->pid, other->words, &first);
    printf("rank %d: %s %d", rank, one, first / WORDS);
    printf(", no address: %s", copy(other->pid, (void *)0x100000, &first));
    signal(SIGSEGV, end); /* the program's own, as in each program of Fortran */
    printf(", null: %s", copy(other->pid, NULL, &first));
    for (int k = 0; k < 10; k++) {
        memset(in, 0, WORDS * sizeof *in);
        MPI_Sendrecv(out, WORDS, MPI_INT, 1 - rank, 0, in, WORDS, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < WORDS; i++)
            wrong += in[i] != (1 - rank) * WORDS + i;
    }
    printf(", %d wrong\n", wrong);
    MPI_Finalize();
    return 0;
}
