// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The start and the end of a rank's program. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

/* The shim is the first object that is started, so all others find their environment and
 * streams. */
__attribute__((constructor)) static void begin(int argc, char **argv, char **envp)
{
    environ = envp;
    tpsl_streams_open();
}

/* _start of every program calls this function. The loader has run the constructors already, also
 * those that `init` of programs linked before glibc 2.34 would run. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    tpsl_first_thread(main, argc, argv);
}

/* libc has the destructors of a thread's C++ objects, and runs them from its own exit. */
void tpsl_thread_locals_end(void)
{
    void (*destroy)(void) = dlsym(RTLD_DEFAULT, "__call_tls_dtors");
    if (destroy)
        destroy();
}

static int exit_status; /* the argument of exit */

void exit(int status)
{
    exit_status = status;
    tpsl_thread_locals_end();
    tpsl_rank_finish();
    tpsl_streams_flush();
    _exit(status);
}

/* It makes only system calls, because signal handlers call it. */
void _exit(int status)
{
    tpsl_rank_rest();
    for (;;)
        syscall(SYS_exit_group, status);
}

void _Exit(int status) __attribute__((alias("_exit")));

struct on_exit {
    void (*function)(int, void *);
    void *argument;
};

static void call_on_exit(void *data)
{
    struct on_exit *o = data;
    o->function(exit_status, o->argument);
}

extern void *__dso_handle;
int __cxa_atexit(void (*)(void *), void *, void *);

int on_exit(void (*function)(int, void *), void *argument)
{
    struct on_exit *o = malloc(sizeof *o);
    if (!o)
        return -1;
    *o = (struct on_exit){function, argument};
    return __cxa_atexit(call_on_exit, o, &__dso_handle);
}
