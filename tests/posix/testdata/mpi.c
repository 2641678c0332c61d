// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* POSIX beside MPI. */
#include "posix.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

static int size;

static int sum_of(int mine)
{
    int sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void *send_and_receive(void *tag)
{
    int mine = rank * 100 + (int)(long)tag, other = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, (int)(long)tag, &other, 1, MPI_INT, (rank + size - 1) % size, (int)(long)tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return (void *)(long)other;
}

/* Threads with small stacks, which end by themselves, by pthread_exit and by cancellation. */
static void *wait_for_cancellation(void *unused)
{
    for (;;)
        pause();
    return NULL;
}

static void threads(void)
{
    int level;
    pthread_attr_t a;
    pthread_t thread, idle;
    void *result;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(pthread_attr_init(&a));
    OK(pthread_attr_setstacksize(&a, 64 << 10));
    OK(pthread_create(&idle, &a, wait_for_cancellation, NULL));
    for (long tag = 0; tag < 5; tag++) {
        OK(pthread_create(&thread, &a, send_and_receive, (void *)tag));
        OK(pthread_join(thread, &result));
        SAY("%ld", (long)result);
    }
    OK(pthread_cancel(idle));
    OK(pthread_join(idle, &result));
    SAY("%d %d", result == PTHREAD_CANCELED, sum_of(rank));
    MPI_Finalize();
}

/* A timer's signals come all the while. */
static volatile sig_atomic_t ticks;
static void tick(int number) { ticks++; }

static void signals(void)
{
    struct sigaction a = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 1000}, {0, 1000}};
    MPI_Init(NULL, NULL);
    OK(sigaction(SIGALRM, &a, NULL));
    OK(setitimer(ITIMER_REAL, &often, NULL));
    int sum = 0;
    for (int i = 0; i < 2000 || ticks < 20; i++)
        ;
    for (int i = 0; i < 500; i++)
        sum += sum_of(i);
    OK(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL));
    SAY("%d, %d", sum, ticks >= 20);
    MPI_Finalize();
}

static void children(void)
{
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 5; i++) {
        fflush(stdout);
        int status, sum = sum_of(i);
        pid_t child = fork();
        if (child == 0)
            _exit(sum);
        OK(waitpid(child, &status, 0) != child);
        SAY("%d, system %d", WEXITSTATUS(status), WEXITSTATUS(system("exit 3")));
    }
    MPI_Finalize();
}

static int delete_attribute(MPI_Comm c, int key, void *value, void *extra)
{
    SAY("attribute %s", (char *)value);
    return MPI_SUCCESS;
}

static void at_end(void)
{
    int finalized;
    MPI_Finalized(&finalized);
    SAY("atexit, finalized %d", finalized);
}

static void ends(void)
{
    int key;
    atexit(at_end);
    MPI_Init(NULL, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, "of MPI_COMM_SELF");
    MPI_Finalize();
    exit(rank == 1 ? 4 : 0);
}

static void finalize_at_exit(void) { MPI_Finalize(); }
static void ends_by_exit(void)
{
    MPI_Init(NULL, NULL);
    atexit(finalize_at_exit);
    SAY("%d", sum_of(1));
    exit(0);
}

/* Buffers of many sizes, from malloc, mmap and the stack. */
static void buffers(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t n = 1; n <= 1 << 22; n *= 8) {
        char *out = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *in = malloc(n);
        memset(out, rank + 1, n);
        MPI_Sendrecv(out, (int)n, MPI_CHAR, (rank + 1) % size, 0, in, (int)n, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        SAY("%zu: %d %d", n, in[0], in[n - 1]);
        munmap(out, n);
        free(in);
    }
    MPI_Finalize();
}

const struct program programs[] = {
    PROGRAM(threads), PROGRAM(signals), PROGRAM(children), PROGRAM(ends), PROGRAM(ends_by_exit), PROGRAM(buffers), {NULL, NULL},
};
