// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* From a fresh process that shares the address space to the first instruction of its
 * program: what execve would have done. */
#include "host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SIGNALS = 65 };
static bool ignored[SIGNALS]; /* when the host was started */
static sigset_t mask;
static struct rlimit files;

/* Before the Go runtime, which sets handlers and raises the limit of files, starts. */
__attribute__((constructor(101))) static void remember(void)
{
    struct sigaction a;
    getrlimit(RLIMIT_NOFILE, &files);
    for (int i = 1; i < SIGNALS; i++)
        ignored[i] = sigaction(i, NULL, &a) == 0 && a.sa_handler == SIG_IGN;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
}

rlim_t tpsl_files_of_ranks(void)
{
    return files.rlim_cur;
}

/* As after execve (signal(7)): what was ignored still is, the rest is default. But for libc's own two signals, which
 * signal() leaves alone: see cancel_once. */
static void reset_signals(void)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    for (int i = 1; i < SIGNALS; i++)
        signal(i, ignored[i] ? SIG_IGN : SIG_DFL);
    sigaltstack(&none, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void tpsl_close_streams(void)
{
    for (int i = 0; i < tpsl_job.nranks; i++) {
        const struct tpsl_rank *r = &tpsl_job.ranks[i];
        if (r->stdin_fd > STDERR_FILENO)
            close(r->stdin_fd);
        if (r->stdout_fd > STDERR_FILENO)
            close(r->stdout_fd);
        if (r->stderr_fd > STDERR_FILENO)
            close(r->stderr_fd);
    }
}

/* The launcher hears of a rank's start by the rank, so that it does before it hears of the rank's end. */
static void tell_start(const struct tpsl_rank *r)
{
    if (tpsl_job.control >= 0)
        dprintf(tpsl_job.control, "start rank=%d pid=%d\n", r->rank, getpid());
}

/* What the host has opened for itself, as execve would. */
static void close_on_exec(void)
{
    DIR *open = opendir("/proc/self/fd");
    for (struct dirent *d; open && (d = readdir(open)) != NULL;) {
        int fd = atoi(d->d_name); /* "." and "..": 0, which a rank keeps */
        if (fd > STDERR_FILENO && fd != dirfd(open) && fcntl(fd, F_GETFD) & FD_CLOEXEC)
            close(fd);
    }
    if (open)
        closedir(open);
}

/* The descriptors of siblings are none of the rank's business: they would keep
 * connections open. */
static void own_descriptors(const struct tpsl_rank *r)
{
    if (r->stdin_fd < 0) {
        close(STDIN_FILENO);
        open("/dev/null", O_RDONLY); /* the lowest number is free */
    } else {
        dup2(r->stdin_fd, STDIN_FILENO);
    }
    dup2(r->stdout_fd, STDOUT_FILENO);
    dup2(r->stderr_fd, STDERR_FILENO);
    tpsl_close_streams();
    for (int i = 0; tpsl_job.pmi && i < tpsl_job.nranks; i++)
        if (i != r->slot)
            close(tpsl_job.pmi[i]);
    if (tpsl_job.control >= 0)
        close(tpsl_job.control);
    close_on_exec();
}

static void set_name(const char *program)
{
    const char *slash = strrchr(program, '/');
    prctl(PR_SET_NAME, slash ? slash + 1 : program);
}

static size_t count(char **list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return n;
}

/* Jumps to the entry point with the stack that the kernel would have made (psABI,
 * "Process Initialization"): argc, argv, environment, auxiliary vector. */
static _Noreturn void enter(const struct tpsl_rank *r, uintptr_t entry)
{
    size_t nargs = (size_t)r->argc, nenv = count(r->envp);
    size_t words = 1 + nargs + 1 + nenv + 1 + 2;
    uintptr_t *sp = (uintptr_t *)((uintptr_t)__builtin_alloca((words + 2) * sizeof(uintptr_t)) & ~(uintptr_t)15);
    memset(sp, 0, words * sizeof *sp);
    sp[0] = nargs;
    memcpy(sp + 1, r->argv, nargs * sizeof *sp);
    memcpy(sp + 1 + nargs + 1, r->envp, nenv * sizeof *sp);
    __asm__ volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\txor %%edx, %%edx\n\tjmp *%1" : : "r"(sp), "r"(entry) : "memory", "rdx");
    __builtin_unreachable();
}

void tpsl_rank_pin(const struct tpsl_rank *r)
{
    cpu_set_t cpus;
    if (r->cpus && tpsl_parse_cpus(r->cpus, &cpus))
        sched_setaffinity(0, sizeof cpus, &cpus); /* a CPU that is gone: run anywhere */
}

_Noreturn void tpsl_rank_run(struct tpsl_rank *r)
{
    struct tpsl_instance *in = r->instance;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != tpsl_job.host)
        _exit(1); /* it died before */
    tell_start(r);
    setsid(); /* as a flat rank: kill(0, ...) is its own, and so is its share of a CPU (sched(7), autogroup) */
    set_name(r->argv[0]);
    own_descriptors(r);
    setrlimit(RLIMIT_NOFILE, &files);
    tpsl_rank_pin(r);
    reset_signals();
    tpsl_rank_watch_faults();
    tpsl_become(in);
    tpsl_census_thread(in, false);
    if (in->exec_stack && !tpsl_stack_executable())
        tpsl_host_die("rank %d: make its stack executable, as %s wants it: %s", r->rank, r->argv[0], strerror(errno));
    in->argc = r->argc;
    in->argv = r->argv;
    in->envp = r->envp;
    tpsl_objects_start(r->objects, r->nobjects, r->argc, r->argv, r->envp);
    enter(r, in->first->entry);
}

void tpsl_rank_finish(void)
{
    tpsl_instance_finish(tpsl_current);
}
