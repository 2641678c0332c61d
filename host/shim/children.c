// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions that start a program without an argument for its environment. libc's functions would pass
 * libc's environment. Functions that search PATH are in path.c. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim.h"

/* A rank that executes another program ends like a rank that exits: its other threads end. */
static int replaced_or_not(int result)
{
    int error = errno;
    tpsl_rank_go_on();
    errno = error;
    return result;
}

int execve(const char *path, char *const argv[], char *const envp[])
{
    tpsl_rank_rest();
    return replaced_or_not((int)tpsl_kernel()(SYS_execve, tpsl_meant(path), argv, envp));
}

int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    tpsl_rank_rest();
    return replaced_or_not((int)tpsl_kernel()(SYS_execveat, folder, tpsl_meant(path), argv, envp, flags));
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
    return execveat(fd, "", argv, envp, AT_EMPTY_PATH);
}

int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

static size_t count(const char *first, va_list more)
{
    size_t n = first ? 1 : 0;
    while (n && va_arg(more, char *))
        n++;
    return n;
}

typedef int exec_function(const char *, char *const *, char *const *);

/* The environment may follow the NULL behind the arguments. */
static int execute(exec_function *exec, const char *file, size_t n, const char *first, va_list more, bool environment_follows)
{
    char *argv[n + 1];
    argv[0] = (char *)first;
    for (size_t i = 1; i <= n; i++)
        argv[i] = va_arg(more, char *);
    return exec(file, argv, environment_follows ? va_arg(more, char **) : environ);
}

int execl(const char *path, const char *first, ...)
{
    va_list more, again;
    va_start(more, first);
    va_copy(again, more);
    return execute(execve, path, count(first, more), first, again, false);
}

int execle(const char *path, const char *first, ...)
{
    va_list more, again;
    va_start(more, first);
    va_copy(again, more);
    return execute(execve, path, count(first, more), first, again, true);
}

int execlp(const char *file, const char *first, ...)
{
    va_list more, again;
    va_start(more, first);
    va_copy(again, more);
    return execute(execvpe, file, count(first, more), first, again, false);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    return BEHIND(posix_spawn)(pid, tpsl_meant(path), actions, attributes, argv, envp);
}

static int start_shell(pid_t *pid, const char *command, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes)
{
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    return posix_spawn(pid, "/bin/sh", actions, attributes, argv, environ);
}

int tpsl_wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* as in streams.c */
static int in_system;                    /* number of threads in system() */
static struct sigaction interrupt, quit; /* the actions before the first of these threads */

void tpsl_children_of_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

static void ignore_interrupts(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    pthread_mutex_lock(&lock);
    if (in_system++ == 0) {
        sigaction(SIGINT, &ignore, &interrupt);
        sigaction(SIGQUIT, &ignore, &quit);
    }
    pthread_mutex_unlock(&lock);
}

static void restore_interrupts(void)
{
    pthread_mutex_lock(&lock);
    if (--in_system == 0) {
        sigaction(SIGINT, &interrupt, NULL);
        sigaction(SIGQUIT, &quit, NULL);
    }
    pthread_mutex_unlock(&lock);
}

struct shell {
    pid_t pid;
    sigset_t mask; /* of the caller */
};

static void leave_system(const struct shell *s)
{
    restore_interrupts();
    pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
}

/* The caller is cancelled. */
static void kill_shell(void *shell)
{
    const struct shell *s = shell;
    kill(s->pid, SIGKILL);
    tpsl_wait_for(s->pid);
    leave_system(s);
}

/* POSIX: the caller ignores SIGINT and SIGQUIT and blocks SIGCHLD while the shell runs. */
int system(const char *command)
{
    struct shell shell;
    sigset_t child, defaults;
    posix_spawnattr_t attributes;
    int status = 127 << 8;
    if (!command)
        return 1;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigemptyset(&defaults);
    ignore_interrupts();
    pthread_sigmask(SIG_BLOCK, &child, &shell.mask);
    if (interrupt.sa_handler != SIG_IGN)
        sigaddset(&defaults, SIGINT);
    if (quit.sa_handler != SIG_IGN)
        sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &shell.mask);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    bool started = start_shell(&shell.pid, command, NULL, &attributes) == 0;
    posix_spawnattr_destroy(&attributes);
    if (started) {
        pthread_cleanup_push(kill_shell, &shell);
        status = tpsl_wait_for(shell.pid);
        pthread_cleanup_pop(0);
    }
    leave_system(&shell);
    return status;
}

static struct piped {
    struct piped *_Atomic next;
    FILE *stream;
    int fd;
    pid_t pid;
} *_Atomic piped; /* so a child of fork finds whole what the list has */

/* POSIX: the shell does not inherit the streams of earlier calls of popen. Otherwise their
 * readers would never see the end. Preconditions: lock is held. */
static int start_piped(struct piped *p, const char *command, int fd, int as)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const struct piped *other = piped; other; other = other->next)
        posix_spawn_file_actions_addclose(&actions, other->fd);
    posix_spawn_file_actions_adddup2(&actions, fd, as);
    int error = start_shell(&p->pid, command, &actions, NULL);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int open_piped(struct piped *p, const char *command, bool reading, bool closed_on_exec)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    int error = start_piped(p, command, ends[reading], reading);
    close(ends[reading]);
    p->fd = ends[!reading];
    if (!closed_on_exec)
        fcntl(p->fd, F_SETFD, 0);
    p->stream = error ? NULL : fdopen(p->fd, reading ? "r" : "w");
    if (!error && !p->stream)
        error = errno;
    if (error)
        close(p->fd);
    return error;
}

FILE *popen(const char *command, const char *mode)
{
    bool reading = strchr(mode, 'r'), writing = strchr(mode, 'w');
    struct piped *p = malloc(sizeof *p);
    FILE *stream = NULL;
    int before;
    int error = !p ? ENOMEM : reading == writing || mode[strspn(mode, "rwe")] ? EINVAL : 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); /* as in libc, popen is no place to be cancelled at */
    pthread_mutex_lock(&lock);
    if (!error)
        error = open_piped(p, command, reading, strchr(mode, 'e'));
    if (!error) {
        stream = p->stream;
        p->next = piped;
        piped = p;
    }
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(before, NULL);
    if (error) {
        free(p);
        errno = error;
    }
    return stream;
}

pid_t tpsl_piped_end(FILE *stream)
{
    struct piped *mine = NULL;
    pid_t pid = 0;
    pthread_mutex_lock(&lock);
    for (struct piped *_Atomic *p = &piped; *p && !mine; p = mine ? p : &(*p)->next)
        if ((*p)->stream == stream) {
            mine = *p;
            *p = mine->next;
            pid = mine->pid;
        }
    pthread_mutex_unlock(&lock);
    free(mine);
    return pid;
}

int pclose(FILE *stream)
{
    pid_t pid = tpsl_piped_end(stream);
    if (!pid) {
        errno = EINVAL;
        return -1;
    }
    fclose(stream);
    return tpsl_wait_for(pid);
}
