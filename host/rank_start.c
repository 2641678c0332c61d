// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What a rank's process does between its start and the first instruction of its program. In a flat
 * process execve does it. */
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
static bool ignored[SIGNALS]; /* signals that were ignored when the host was started */
static sigset_t mask;
static struct rlimit files;

/* This runs before the Go runtime starts, because the Go runtime sets handlers and raises the limit of open files. */
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

void tpsl_close_streams(void)
{
    for (int i = 0; i < tpsl_host.nranks; i++) {
        const struct tpsl_rank *r = tpsl_host.ranks[i].rank;
        if (r->stdin_fd > STDERR_FILENO)
            close(r->stdin_fd);
        if (r->stdout_fd > STDERR_FILENO)
            close(r->stdout_fd);
        if (r->stderr_fd > STDERR_FILENO)
            close(r->stderr_fd);
    }
}

/* Closes the descriptors that the host has opened for itself, as execve would do. */
static void close_on_exec(void)
{
    DIR *open = opendir("/proc/self/fd");
    for (struct dirent *d; open && (d = readdir(open)) != NULL;) {
        int fd = atoi(d->d_name); /* 0 for "." and "..", and a rank keeps descriptor 0 */
        if (fd > STDERR_FILENO && fd != dirfd(open) && fcntl(fd, F_GETFD) & FD_CLOEXEC)
            close(fd);
    }
    if (open)
        closedir(open);
}

/* The rank closes the descriptors of the other ranks, which would keep their connections open. */
static void own_descriptors(const struct tpsl_job *job, const struct tpsl_rank *r)
{
    if (r->stdin_fd < 0) {
        close(STDIN_FILENO);
        open("/dev/null", O_RDONLY); /* open returns the lowest free number, which is 0 now */
    } else {
        dup2(r->stdin_fd, STDIN_FILENO);
    }
    dup2(r->stdout_fd, STDOUT_FILENO);
    dup2(r->stderr_fd, STDERR_FILENO);
    tpsl_close_streams();
    for (int i = 0; i < job->nranks; i++)
        if (i != r->slot)
            close(job->ranks[i].pmi.fd);
    close(job->control.fd);
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
static _Noreturn void enter(const struct tpsl_rank_process *r, uintptr_t entry)
{
    char **envp = r->rank->environment;
    size_t nargs = (size_t)r->argc, nenv = count(envp);
    size_t words = 1 + nargs + 1 + nenv + 1 + 2;
    uintptr_t *sp = (uintptr_t *)((uintptr_t)__builtin_alloca((words + 2) * sizeof(uintptr_t)) & ~(uintptr_t)15);
    memset(sp, 0, words * sizeof *sp);
    sp[0] = nargs;
    memcpy(sp + 1, r->argv, nargs * sizeof *sp);
    memcpy(sp + 1 + nargs + 1, envp, nenv * sizeof *sp);
    __asm__ volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\txor %%edx, %%edx\n\tjmp *%1" : : "r"(sp), "r"(entry) : "memory", "rdx");
    __builtin_unreachable();
}

/* Finds the rank that the current process is. A child that a rank has forked is not a rank. The host tells the
 * launcher how the process of a rank ended, so the handler does not tell it. */
static bool find_victim(struct tpsl_victim *v)
{
    const struct tpsl_rank_process *r = tpsl_rank_of(getpid());
    if (!r)
        return false;
    *v = (struct tpsl_victim){.rank = r->rank->number};
    snprintf(v->name, sizeof v->name, "rank %d (process %d, thread %d)", v->rank, getpid(), gettid());
    return true;
}

/* Sets the dispositions that execve leaves (signal(7)): ignored signals stay ignored, and all others get the default action.
 * signal() does not change libc's own two signals: see cancel_once. From here on a fault of the rank is told, even
 * before its program begins. Other signals stay blocked, as they are in the lent thread. */
static void reset_signals(void)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    sigset_t faults;
    for (int i = 1; i < SIGNALS; i++)
        signal(i, ignored[i] ? SIG_IGN : SIG_DFL);
    sigaltstack(&none, NULL);
    tpsl_give_signal_stack();
    tpsl_watch_faults(find_victim, false);
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    sigaddset(&faults, SIGFPE);
    sigaddset(&faults, SIGILL);
    pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
}

_Noreturn void tpsl_rank_run(struct tpsl_rank_process *r)
{
    struct tpsl_instance *in = r->instance;
    reset_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != tpsl_host.pid)
        _exit(1); /* the host died before prctl */
    tpsl_tell_start(tpsl_host.job, r->rank->number, getpid()); /* The rank writes this line itself. So the line comes before the one about its end. */
    setsid(); /* As for a flat rank, kill(0, ...) reaches this rank only, and it has its own share of a CPU (sched(7), autogroup). */
    set_name(r->argv[0]);
    own_descriptors(tpsl_host.job, r->rank);
    setrlimit(RLIMIT_NOFILE, &files);
    tpsl_rank_pin(r->rank);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    tpsl_become(in);
    tpsl_census_thread(in, false);
    if (tpsl_instance_needs_exec_stack(in) && !tpsl_stack_executable())
        tpsl_die(1, "rank %d: make its stack executable, as %s requires: %s", r->rank->number, r->argv[0], strerror(errno));
    tpsl_instance_set_arguments(in, r->argc, r->argv, r->rank->environment);
    tpsl_instance_start(in, r->objects, r->nobjects);
    enter(r, tpsl_instance_entry(in));
}
