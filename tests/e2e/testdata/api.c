/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * api FIRST: what the functions of tpsl.h answer in each state of a slot. The process has
 * the ranks FIRST and FIRST+1; with one rank, FIRST alone.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong, first, size;
static sem_t owned, end;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s\n", __LINE__, #condition); \
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED); \
        } \
    } while (0)

static void run_thread(void *(*f)(void *))
{
    pthread_t t;
    pthread_create(&t, NULL, f, NULL);
    pthread_join(t, NULL);
}

static int rank_of_calls(void)
{
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int finalized(void)
{
    int flag = -1;
    MPI_Finalized(&flag);
    return flag;
}

/* CPUs that the calling thread may use, -1: several. */
static int cpu(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; CPU_COUNT(&set) == 1; i++)
        if (CPU_ISSET(i, &set))
            return i;
    return -1;
}

static void before_any_claim(void)
{
    CHECK(TPSL_Slot() == -1);
    CHECK(TPSL_Local_size() == size);
    CHECK(TPSL_Slot() == -1);
    for (int slot = 0; slot < size; slot++)
        CHECK(TPSL_Rank_of(slot) == first + slot && TPSL_Same_process(first + slot));
    CHECK(TPSL_Rank_of(-1) == -1 && TPSL_Rank_of(size) == -1);
    CHECK(!TPSL_Same_process(first - 1) && !TPSL_Same_process(first + size) && !TPSL_Same_process(-1));
    CHECK(TPSL_Switch(-1) == -1);
}

/* The owner of slot 1: ends when it is told to. */
static void *owner(void *unused)
{
    MPI_Init(NULL, NULL); /* by a thread that inherits slot 0: it gets one of its own */
    CHECK(TPSL_Slot() == 1 && rank_of_calls() == first + 1);
    sem_post(&owned);
    sem_wait(&end);
    return unused;
}

/* Slot 1 is BOUND: this thread inherits slot 0 and owns none. */
static void *helper(void *unused)
{
    CHECK(TPSL_Slot() == 0 && rank_of_calls() == first);
    CHECK(TPSL_Adopt(0) == -1 && TPSL_Adopt(1) == -1);
    CHECK(TPSL_Switch(1) == 0 && TPSL_Slot() == 1 && rank_of_calls() == first + 1);
    CHECK(TPSL_Switch(1) == 1);
    CHECK(TPSL_Switch(-1) == 1 && TPSL_Slot() == -1);
    int flag = -1;
    MPI_Initialized(&flag);
    CHECK(flag == 0);
    CHECK(TPSL_Switch(0) == -1 && rank_of_calls() == first);
    return unused;
}

/* Slot 1 is ENDED: its MPI goes on under a new owner, on its CPU. */
static void *adopt_and_finalize(void *unused)
{
    int place = cpu();
    CHECK(TPSL_Switch(1) == 0 && rank_of_calls() == first + 1);
    CHECK(TPSL_Adopt(1) == 0 && TPSL_Slot() == 1 && rank_of_calls() == first + 1);
    CHECK(place == -1 || cpu() != place);
    MPI_Finalize();
    CHECK(TPSL_Slot() == 1 && finalized());
    return unused;
}

static void two_ranks(void)
{
    pthread_t t;
    int length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_library_version(version, &length); /* claims slot 0 */
    CHECK(TPSL_Slot() == 0);
    pthread_create(&t, NULL, owner, NULL);
    MPI_Init(NULL, NULL);
    sem_wait(&owned);
    CHECK(TPSL_Slot() == 0 && rank_of_calls() == first);
    CHECK(TPSL_Symbol(0, "MPI_Send") != TPSL_Symbol(1, "MPI_Send") && !TPSL_Symbol(1, "no_such_function"));
    run_thread(helper);
    sem_post(&end);
    pthread_join(t, NULL);
    pthread_create(&t, NULL, adopt_and_finalize, NULL);
    MPI_Finalize();
    pthread_join(t, NULL);
    CHECK(TPSL_Switch(1) == 0 && finalized()); /* ENDED, MPI_Finalize called */
    CHECK(TPSL_Switch(0) == 1 && finalized());
    CHECK(TPSL_Symbol(1, "MPI_Send") && TPSL_Rank_of(1) == first + 1 && TPSL_Local_size() == 2);
}

static void *one_helper(void *unused)
{
    CHECK(TPSL_Switch(-1) == 0 && TPSL_Slot() == -1);
    CHECK(rank_of_calls() == first && TPSL_Slot() == 0); /* with one rank every thread acts for it */
    CHECK(TPSL_Switch(0) == 0 && TPSL_Adopt(0) == -1);
    return unused;
}

static void *initialise(void *unused)
{
    MPI_Init(NULL, NULL);
    return unused;
}

static void one_rank(void)
{
    run_thread(initialise); /* slot 0 is ENDED then */
    CHECK(TPSL_Slot() == -1 && rank_of_calls() == first && TPSL_Slot() == 0);
    CHECK(TPSL_Adopt(0) == 0 && TPSL_Slot() == 0);
    run_thread(one_helper);
    MPI_Finalize();
    CHECK(finalized() && TPSL_Slot() == 0);
}

int main(int argc, char **argv)
{
    first = argc > 1 ? atoi(argv[1]) : 0;
    size = TPSL_Local_size();
    sem_init(&owned, 0, 0);
    sem_init(&end, 0, 0);
    before_any_claim();
    if (size == 2)
        two_ranks();
    else
        one_rank();
    printf("api: %d slots, %d wrong\n", size, wrong);
    return wrong != 0;
}
