// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* fork and the functions that use it. libc has one list of pthread_atfork's handlers in the
 * address space, so a fork of one rank would run the handlers of all ranks. Here each rank has
 * its own list. */
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <pty.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <utmp.h>

#include "shim.h"

typedef void handler(void);

/* Handlers are never removed, because libraries of a rank stay loaded as long as the rank exists. */
static struct handlers {
    struct handlers *older;
    handler *prepare, *parent, *child;
} *_Atomic newest;

/* pthread_atfork in every program and library calls this function. */
int __register_atfork(handler *prepare, handler *parent, handler *child, void *dso)
{
    struct handlers *h = malloc(sizeof *h);
    if (!h)
        return ENOMEM;
    *h = (struct handlers){newest, prepare, parent, child};
    while (!atomic_compare_exchange_weak(&newest, &h->older, h))
        ;
    return 0;
}

static void call(handler *h)
{
    if (h)
        h();
}

/* POSIX: these run in the order of their registration. */
static void call_after(const struct handlers *h, bool in_child)
{
    if (!h)
        return;
    call_after(h->older, in_child);
    call(in_child ? h->child : h->parent);
}

pid_t _Fork(void)
{
    pid_t pid = tpsl_fork(BEHIND(_Fork));
    if (pid == 0) {
        tpsl_streams_of_child();
        tpsl_children_of_child();
    }
    return pid;
}

pid_t fork(void)
{
    const struct handlers *known = newest;
    for (const struct handlers *h = known; h; h = h->older)
        call(h->prepare);
    tpsl_streams_hold();
    pid_t pid = _Fork();
    int error = errno;
    if (pid != 0)
        tpsl_streams_release();
    call_after(known, pid == 0);
    errno = error;
    return pid;
}

pid_t __fork(void) __attribute__((alias("fork"), nothrow));

pid_t forkpty(int *master, char *name, const struct termios *settings, const struct winsize *size)
{
    int controller, terminal;
    if (openpty(&controller, &terminal, name, settings, size) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(controller);
        if (login_tty(terminal) != 0)
            _exit(1);
        return 0;
    }
    int error = errno;
    close(terminal);
    if (pid < 0)
        close(controller);
    else
        *master = controller;
    errno = error;
    return pid;
}

static int to_null(void)
{
    int null = open(_PATH_DEVNULL, O_RDWR);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
    return null < 0 ? -1 : 0;
}

int daemon(int stay_in_folder, int keep_streams)
{
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (pid > 0)
        _exit(0);
    if (setsid() < 0)
        return -1;
    if (!stay_in_folder && chdir("/") != 0)
        return -1;
    return keep_streams ? 0 : to_null();
}
