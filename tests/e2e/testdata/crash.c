// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Rank 1 of two crashes, in the way that the argument names, inside the MPI library or
 * below it. */
#include <asm/prctl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* MPI_Send reads it with memcpy. */
NOINLINE static void bad_buffer(void) { MPI_Send((void *)16, 100, MPI_INT, 0, 0, MPI_COMM_WORLD); }

NOINLINE static void reduce_with(MPI_User_function *function)
{
    int one = 1, two = 2;
    MPI_Op op;
    MPI_Op_create(function, 1, &op);
    MPI_Reduce_local(&one, &two, 1, MPI_INT, op);
}

NOINLINE static void bad_function(void) { reduce_with((MPI_User_function *)8); }

NOINLINE static void divides(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)type;
    volatile int zero = 0;
    *(int *)inout = *count / zero;
}
NOINLINE static void divide(void) { reduce_with(divides); }

NOINLINE static void aborts(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    abort();
}
NOINLINE static void abort_inside(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(aborts, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Send(NULL, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
}

static volatile int depth;
NOINLINE static int deeper(int n)
{
    char page[4096];
    memset(page, n, sizeof page);
    depth = n;
    return deeper(n + 1) + page[n % 4096];
}
NOINLINE static void overflow(void) { deeper(0); }

/* Nothing to walk up: the stack pointer leads nowhere. */
NOINLINE static void no_stack(void) { __asm__ volatile("mov $16, %rsp\n\tjmp *%rsp"); }

/* libc finds no thread-local variable, nor the rank. */
NOINLINE static void no_thread_pointer(void)
{
    long number = SYS_arch_prctl;
    __asm__ volatile("syscall\n\tmovl $0, 16" : "+a"(number) : "D"(ARCH_SET_FS), "S"(0) : "rcx", "r11", "memory");
}

static void on_signal(int number)
{
    static const char line[] = "the program's own handler\n";
    (void)!write(STDERR_FILENO, line, sizeof line - 1);
    signal(number, SIG_DFL);
}
NOINLINE static void own_handler(void)
{
    signal(SIGSEGV, on_signal);
    bad_buffer();
}

#define CASE(f) \
    {           \
        #f, f   \
    }
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {CASE(bad_buffer), CASE(bad_function), CASE(divide), CASE(abort_inside), CASE(overflow), CASE(no_stack), CASE(no_thread_pointer), CASE(own_handler)};

int main(int argc, char **argv)
{
    (void)argc;
#pragma omp parallel
    {
        int rank;
        MPI_Init(NULL, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Barrier(MPI_COMM_WORLD);
        for (size_t i = 0; rank == 1 && i < sizeof cases / sizeof *cases; i++)
            if (strcmp(cases[i].name, argv[1]) == 0)
                cases[i].run();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return 0;
}
