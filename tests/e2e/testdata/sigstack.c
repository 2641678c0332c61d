// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Threads that act for a rank have a stack for signal handlers, and give it back. One
 * that the program made stays. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <tpsl.h>
#include <unistd.h>

static char own[1 << 16];
static int without, changed;

static void *plain(void *unused)
{
    stack_t now;
    sigaltstack(NULL, &now);
    without += (now.ss_flags & SS_DISABLE) != 0;
    return unused;
}

/* Its stack is that of the runtime until it has its own. */
static void *with_own(void *unused)
{
    stack_t mine = {.ss_sp = own, .ss_size = sizeof own}, now;
    sigaltstack(&mine, NULL);
    TPSL_Switch(0);
    sigaltstack(NULL, &now);
    changed += now.ss_sp != own;
    return unused;
}

static void run(void *(*routine)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, routine, NULL);
    pthread_join(thread, NULL);
}

static int mappings(void)
{
    int lines = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int c; (c = getc(maps)) != EOF;)
        lines += c == '\n';
    fclose(maps);
    return lines;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    run(plain);
    int before = mappings();
    for (int i = 0; i < 100; i++)
        run(plain);
    run(with_own);
    int more = mappings() - before;
    printf("%d threads without a stack, %d stacks changed, %s\n", without, changed, more < 20 ? "none left" : "stacks left");
    MPI_Finalize();
    return 0;
}
