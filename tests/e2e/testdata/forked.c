// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* All that makes a child: what it may do, and how it ends. */
#include <errno.h>
#include <pthread.h>
#include <pty.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int rank;

static void tell(const char *what, int status)
{
    printf("rank %d: %s: %#x\n", rank, what, status);
    fflush(stdout);
}

static int code_of(pid_t pid)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* What the child of a program with one thread may do. */
static void use_libc(void)
{
    char *text = strdup("text");
    setenv("CHILD", text, 1);
    free(text);
    exit(7);
}

static int registered;
static void prepare(void) { registered += 1; }
static void parent(void) { registered += 10; }
static void child(void) { registered += 100; }
static void prepare_second(void) { registered *= 2; }

static void fork_handlers(void)
{
    pthread_atfork(prepare, parent, child);
    pthread_atfork(prepare_second, NULL, NULL); /* called before the first */
    pid_t pid = fork();
    if (pid == 0)
        _exit(registered);
    tell("handlers in the child", code_of(pid));
    tell("handlers in the parent", registered);
    registered = 0;
    pid = _Fork();
    if (pid == 0)
        _exit(registered);
    tell("_Fork calls none", code_of(pid));
}

static void terminal(void)
{
    int controller;
    pid_t pid = forkpty(&controller, NULL, NULL, NULL);
    if (pid == 0) {
        if (!isatty(0) || !isatty(1))
            _exit(1);
        use_libc();
    }
    tell("forkpty", code_of(pid));
    close(controller);
}

/* The daemon's parent is a child of ours, which learns of the daemon by a pipe. */
static void background(void)
{
    int ends[2];
    char folder[8] = "";
    if (pipe(ends) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        char here[4096];
        if (daemon(0, 0) != 0 || getsid(0) != getpid() || !getcwd(here, sizeof here) || write(ends[1], here, strlen(here)) < 0)
            _exit(1);
        use_libc();
    }
    close(ends[1]);
    tell("the parent of a daemon", code_of(pid));
    (void)!read(ends[0], folder, sizeof folder - 1);
    printf("rank %d: a daemon is in %s\n", rank, folder);
    close(ends[0]);
}

static void programs(void)
{
    char *const argv[] = {"sh", "-c", "exit 9", NULL};
    pid_t pid = vfork();
    if (pid == 0) {
        execve("/bin/sh", argv, environ);
        _exit(127);
    }
    tell("vfork", code_of(pid));
    if (vfork() == 0)
        _exit(0);
    wait(NULL);
    posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
    tell("posix_spawn", code_of(pid));
    tell("system", system("exit 4"));
}

/* A handler that interrupts malloc, sooner or later, and forks. It asks for the next signal itself: a machine on which a fork takes longer
 * than the time between two signals would do nothing else. */
enum { FORKS = 50 };
static volatile sig_atomic_t forks, failures;

static void soon(void) { setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 2000}, NULL); }

static void fork_in_handler(int number)
{
    int error = errno;
    pid_t pid = fork();
    if (pid == 0) {
        sem_unlink("/tpsl-nothing"); /* waits for no lock of libc, and needs no memory */
        _exit(3);
    }
    if (code_of(pid) != 3 << 8)
        failures++;
    if (++forks < FORKS)
        soon();
    errno = error;
}

static void in_handlers(void)
{
    struct sigaction a = {.sa_handler = fork_in_handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &a, NULL);
    soon();
    while (forks < FORKS)
        for (int i = 1; i < 100; i++)
            free(calloc(1, (size_t)i * 100));
    tell("forks by a handler that failed", failures);
}

int main(void)
{
    rank = atoi(getenv("PMI_RANK"));
    pid_t pid = fork();
    if (pid == 0)
        use_libc();
    tell("fork", code_of(pid));
    fork_handlers();
    terminal();
    background();
    programs();
    in_handlers();
    return 0;
}
