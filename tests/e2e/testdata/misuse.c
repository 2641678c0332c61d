/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * misuse WHAT: each way to use MPI wrongly from threads. None of them returns 0.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int argc_;
static char **argv_;

static void init_all(void)
{
#pragma omp parallel
    MPI_Init(&argc_, &argv_, omp_get_thread_num());
}

static void before_init(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void out_of_range(void)
{
    MPI_Init(&argc_, &argv_, 2);
}

static void all_out_of_range(void)
{
#pragma omp parallel num_threads(8)
    MPI_Init(&argc_, &argv_, 2);
}

static void negative(void)
{
    MPI_Init(&argc_, &argv_, -1);
}

static void claimed_twice(void)
{
#pragma omp parallel
    {
        MPI_Init(&argc_, &argv_, 0);
    }
}

static void init_twice(void)
{
    init_all();
    MPI_Init(&argc_, &argv_);
}

static void init_second_slot(void)
{
    init_all();
    TPSL_Init(1);
}

static void init_as_another(void)
{
    init_all();
    TPSL_Switch(1);
    MPI_Init(&argc_, &argv_);
}

static void switch_out_of_range(void)
{
    TPSL_Switch(2);
}

static void switch_before_init(void)
{
    TPSL_Switch(1);
}

static void switch_to_none(void)
{
    init_all();
    TPSL_Switch(-1);
}

static void adopt_out_of_range(void)
{
    TPSL_Adopt(-1);
}

static void adopt_before_init(void)
{
    TPSL_Adopt(0);
}

static void adopt_second_slot(void)
{
    init_all();
    TPSL_Adopt(1);
}

static void symbol_out_of_range(void)
{
    TPSL_Symbol(2, "MPI_Send");
}

static void symbol_before_init(void)
{
    TPSL_Symbol(0, "MPI_Send");
}

static void *init_thread(void *unused)
{
    MPI_Init(&argc_, &argv_);
    pause(); /* or its end would free the slot for adoption */
    return unused;
}

static void too_many_threads(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, init_thread, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
}

static void too_few_threads(void)
{
    MPI_Init(&argc_, &argv_, 0);
}

static void init_after_finalize(void)
{
    init_all();
#pragma omp parallel
    MPI_Finalize();
    MPI_Init(&argc_, &argv_, 0);
}

static void exit_without_finalize(void)
{
    init_all();
    exit(0);
}

static void crash(void)
{
    init_all();
#pragma omp parallel
    {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 1)
            *(volatile int *)8 = 1;
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void crash_under_flags(void)
{
    struct sigaction usual = {.sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &usual, NULL);
    crash();
}

static void crash_before_init(void)
{
    *(volatile int *)8 = 1;
}

/* The thread has been in the runtime by then, but has no rank. */
static void crash_after_query(void)
{
    TPSL_Local_size();
    crash_before_init();
}

static void broken_pipe(void)
{
    TPSL_Local_size();
    while (write(STDOUT_FILENO, "line\n", 5) == 5)
        ;
}

static void abort_job(void)
{
    init_all();
    printf("buffered, not lost");
#pragma omp parallel
    if (omp_get_thread_num() == 1)
        MPI_Abort(MPI_COMM_WORLD, 37);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

static void wait_for_ever(void)
{
    init_all();
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}

static void unbound_thread(void)
{
    init_all();
#pragma omp parallel num_threads(4)
    {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
}

#define CASE(f) {#f, f}
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(before_init), CASE(out_of_range), CASE(all_out_of_range), CASE(negative), CASE(claimed_twice), CASE(init_twice), CASE(too_many_threads),
    CASE(init_second_slot), CASE(init_as_another), CASE(switch_out_of_range), CASE(switch_before_init), CASE(switch_to_none), CASE(adopt_out_of_range),
    CASE(adopt_before_init), CASE(adopt_second_slot), CASE(symbol_out_of_range), CASE(symbol_before_init),
    CASE(too_few_threads), CASE(init_after_finalize), CASE(exit_without_finalize), CASE(crash), CASE(crash_before_init), CASE(crash_under_flags),
    CASE(crash_after_query), CASE(broken_pipe), CASE(abort_job), CASE(wait_for_ever), CASE(unbound_thread),
};

int main(int argc, char **argv)
{
    argc_ = argc;
    argv_ = argv;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc == 2 && strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    return 0;
}
