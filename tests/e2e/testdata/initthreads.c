/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * initthreads HOW: calls of MPI_Init on several threads of a flat program. In C and in C++.
 */
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int init_function(int *, char ***);
static init_function *init = MPI_Init;

static int init_thread(int *argc, char ***argv)
{
    int provided;
    return MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
}

#if MPI_VERSION >= 4
/* MPICH 4.0.2 crashes where a session begins after the last one has ended. */
static MPI_Session sessions[2];
static int nsessions;

static int init_session(int *argc, char ***argv)
{
    return MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &sessions[nsessions++]);
}
#endif

#ifdef __cplusplus
static int init_cxx(int *argc, char ***argv)
{
    MPI::Init();
    return 0;
}
#endif

static void *call(void *unused)
{
    init(NULL, NULL);
    return unused;
}

static void on_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, call, NULL);
    pthread_join(thread, NULL);
}

static void on_two_threads(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, call, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void call_again(void)
{
    call(NULL);
}

static void child_calls(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        on_thread();
        _exit(0);
    }
    waitpid(child, &status, 0);
}

/* What ends the job: rank 0 does it, and all wait for that. */
static void alone(void (*run)(void))
{
    if (strcmp(getenv("PMI_RANK"), "0") == 0)
        run();
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    const char *how = argv[1], *function = argc > 2 ? argv[2] : "MPI_Init";
    int has = 0, at_end = 0;
    printf("begins ");
    if (strcmp(function, "MPI_Init_thread") == 0)
        init = init_thread;
#if MPI_VERSION >= 4
    if (strcmp(function, "session") == 0)
        init = init_session;
#endif
#ifdef __cplusplus
    if (strcmp(function, "MPI::Init") == 0)
        init = init_cxx;
#endif
    if (strcmp(function, "PMPI_Init") == 0)
        init = PMPI_Init;
    if (strcmp(function, "default") == 0)
        init = (init_function *)dlsym(RTLD_DEFAULT, "MPI_Init");
    if (strcmp(function, "handle") == 0)
        init = (init_function *)dlsym(dlopen("libmpich.so.12", RTLD_NOW), "MPI_Init");
    if (strcmp(how, "together") == 0)
        on_two_threads();
    if (strcmp(how, "one") == 0 || strcmp(how, "later") == 0 || strcmp(how, "twice") == 0 || strcmp(how, "child") == 0)
        call(NULL);
    if (strcmp(how, "later") == 0 || strcmp(how, "other") == 0)
        on_thread();
    if (strcmp(how, "twice") == 0)
        alone(call_again);
    if (strcmp(how, "child") == 0)
        alone(child_calls);
#if MPI_VERSION >= 4
    for (int i = 0; i < nsessions; i++)
        MPI_Session_finalize(&sessions[i]);
#endif
    MPI_Initialized(&has);
    MPI_Finalized(&at_end);
    printf("initialized %d\n", has);
    if (has && !at_end)
        MPI_Finalize();
    return 0;
}
