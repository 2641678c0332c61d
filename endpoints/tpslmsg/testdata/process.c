/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * process WHAT LIBRARY: opens the library while it runs, and then: fork, unload, handled, unhandled, late, pipe, wild.
 */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

static void *library;

/* The functions of the library that this program uses, by the same names. */
static int (*post)(tpslmsg_port, const struct tpslmsg_op *, int);
static int (*reap)(tpslmsg_port, struct tpslmsg_completion *, int, int, double);
static const char *(*error)(void);
static tpslmsg_job job;
static tpslmsg_port port;

static void *symbol(const char *name)
{
    void *s = dlsym(library, name);
    if (!s) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return s;
}

#define FIND(pointer, name) (*(void **)&(pointer) = symbol(name))
#define tpslmsg_error error

static void load(const char *path)
{
    int (*begin)(const struct tpslmsg_options *, double, tpslmsg_job *);
    int (*open)(tpslmsg_job, int, tpslmsg_port *);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    FIND(post, "tpslmsg_post");
    FIND(reap, "tpslmsg_reap");
    FIND(error, "tpslmsg_error");
    FIND(begin, "tpslmsg_start");
    FIND(open, "tpslmsg_open");
    NEED(begin(NULL, 60, &job) == 0);
    NEED(open(job, 0, &port) == 0);
}

static void talk(void)
{
    struct tpslmsg_op both[2] = {{.kind = TPSLMSG_SEND}, {.kind = TPSLMSG_RECEIVE}};
    struct tpslmsg_completion ends[2];
    NEED(post(port, both, 2) == 2);
    NEED(reap(port, ends, 2, 2, 60) == 2);
}

static void in_fork(void)
{
    int status;
    struct tpslmsg_completion c;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct tpslmsg_op o = {.kind = TPSLMSG_SEND};
        tpslmsg_port none = {0};
        _exit(post(port, &o, 1) == TPSLMSG_FORKED && reap(none, &c, 1, 1, 1) == TPSLMSG_FORKED && strstr(error(), "child made by fork") ? 7 : 1);
    }
    NEED(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    talk();
    child = fork(); /* and one that ends as programs do */
    if (child == 0)
        exit(8);
    NEED(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 8);
    talk();
}

static void unload(const char *path)
{
    NEED(dlclose(library) == 0);
    talk(); /* it is there still */
    void *again = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    NEED(again == library);
    talk();
}

static sigjmp_buf back;
static void *volatile faulted;
static int *volatile nowhere = (int *)16;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    faulted = info->si_addr;
    siglongjmp(back, 1);
}

static void handle(void)
{
    struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    NEED(sigaction(SIGSEGV, &a, NULL) == 0);
}

static void fault(void)
{
    if (sigsetjmp(back, 1) == 0)
        *nowhere = 1;
    NEED(faulted == (void *)16);
    faulted = NULL;
}

/* The program's handler gets the program's faults. The library has given it the flag that it must have, and no other. */
static void handled(int flags)
{
    struct sigaction a;
    fault();
    talk();
    fault();
    NEED(sigaction(SIGSEGV, NULL, &a) == 0 && a.sa_sigaction == on_fault && (a.sa_flags & (SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER)) == flags);
    NEED(sigaction(SIGBUS, NULL, &a) == 0 && a.sa_handler == SIG_DFL);
}

/* A broken pipe is an error, and ends nothing. A program that is executed is ended by it, as ever. */
static void broken_pipe(void)
{
    int ends[2], status;
    NEED(pipe(ends) == 0 && close(ends[0]) == 0);
    NEED(write(ends[1], "x", 1) == -1 && errno == EPIPE);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execlp("yes", "yes", (char *)NULL);
        _exit(1);
    }
    NEED(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
    talk();
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    if (argc < 3)
        return 2;
    if (strcmp(what, "handled") == 0)
        handle();
    load(argv[2]);
    talk();
    if (strcmp(what, "fork") == 0)
        in_fork();
    else if (strcmp(what, "unload") == 0)
        unload(argv[2]);
    else if (strcmp(what, "handled") == 0)
        handled(SA_SIGINFO | SA_ONSTACK);
    else if (strcmp(what, "late") == 0) {
        handle();
        handled(SA_SIGINFO);
    } else if (strcmp(what, "pipe") == 0)
        broken_pipe();
    else if (strcmp(what, "unhandled") == 0)
        *nowhere = 1;
    else if (strcmp(what, "wild") == 0)
        post(port, &(struct tpslmsg_op){.kind = TPSLMSG_SEND, .buffer = nowhere, .bytes = 8}, 1);
    printf("process: %s: right\n", what);
    return 0;
}
