// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Programs started without being given an environment: libc would take its own. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim.h"

int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

static size_t count(const char *first, va_list more)
{
    size_t n = first ? 1 : 0;
    while (n && va_arg(more, char *))
        n++;
    return n;
}

static int execute(int (*exec)(const char *, char *const *, char *const *), const char *file, size_t n, const char *first, va_list more)
{
    char *argv[n + 1];
    for (size_t i = 0; i < n; i++)
        argv[i] = i ? va_arg(more, char *) : (char *)first;
    argv[n] = NULL;
    return exec(file, argv, environ);
}

int execl(const char *path, const char *first, ...)
{
    va_list more, again;
    va_start(more, first);
    va_copy(again, more);
    return execute(execve, path, count(first, more), first, again);
}

int execlp(const char *file, const char *first, ...)
{
    va_list more, again;
    va_start(more, first);
    va_copy(again, more);
    return execute(execvpe, file, count(first, more), first, again);
}

/* Starts a shell with fd as its descriptor `as`, or as it is when fd is negative. */
static int start_shell(pid_t *pid, const char *command, int fd, int as, const posix_spawnattr_t *attributes)
{
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (fd >= 0)
        posix_spawn_file_actions_adddup2(&actions, fd, as);
    int error = posix_spawn(pid, "/bin/sh", &actions, attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* POSIX: the caller ignores SIGINT and SIGQUIT and blocks SIGCHLD while the shell runs. */
int system(const char *command)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    sigset_t child, mask, defaults;
    posix_spawnattr_t attributes;
    pid_t pid;
    if (!command)
        return 1;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigemptyset(&defaults);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    pthread_sigmask(SIG_BLOCK, &child, &mask);
    if (interrupt.sa_handler != SIG_IGN)
        sigaddset(&defaults, SIGINT);
    if (quit.sa_handler != SIG_IGN)
        sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &mask);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int status = start_shell(&pid, command, -1, -1, &attributes) == 0 ? wait_for(pid) : 127 << 8;
    posix_spawnattr_destroy(&attributes);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return status;
}

static struct piped {
    struct piped *next;
    FILE *stream;
    pid_t pid;
} *piped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

FILE *popen(const char *command, const char *mode)
{
    int ends[2], reading = mode[0] == 'r';
    struct piped *p = malloc(sizeof *p);
    if (!p || (mode[0] != 'r' && mode[0] != 'w') || pipe2(ends, O_CLOEXEC) != 0) {
        errno = p ? errno : ENOMEM;
        free(p);
        return NULL;
    }
    int error = start_shell(&p->pid, command, ends[reading], reading, NULL);
    close(ends[reading]);
    if (!strchr(mode, 'e'))
        fcntl(ends[!reading], F_SETFD, 0);
    p->stream = error ? NULL : fdopen(ends[!reading], reading ? "r" : "w");
    if (!p->stream) {
        close(ends[!reading]);
        free(p);
        errno = error ? error : errno;
        return NULL;
    }
    FILE *stream = p->stream;
    pthread_mutex_lock(&lock);
    p->next = piped;
    piped = p;
    pthread_mutex_unlock(&lock);
    return stream;
}

int pclose(FILE *stream)
{
    pthread_mutex_lock(&lock);
    struct piped **p = &piped;
    while (*p && (*p)->stream != stream)
        p = &(*p)->next;
    struct piped *mine = *p;
    if (mine)
        *p = mine->next;
    pthread_mutex_unlock(&lock);
    if (!mine) {
        errno = EINVAL;
        return -1;
    }
    pid_t pid = mine->pid;
    free(mine);
    fclose(stream);
    return wait_for(pid);
}
