// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The host process: makes the instances, starts a process for each, and ends as they
 * ended. */
#include "host.h"

#include <errno.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "_cgo_export.h"

struct tpsl_job tpsl_job = {.control = -1};

_Noreturn void tpsl_host_die(const char *format, ...)
{
    char line[1024] = "tpsl: ";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + 6, sizeof line - 7, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    (void)!write(STDERR_FILENO, line, strlen(line));
    _exit(1);
}

static void make_instance(const char *program, struct tpsl_rank *r, int argc, char **argv)
{
    char *error = NULL;
    r->argc = argc;
    r->argv = calloc((size_t)argc + 1, sizeof *r->argv);
    for (int i = 0; i < argc; i++)
        if (!r->argv || !(r->argv[i] = strdup(argv[i]))) /* programs write to theirs */
            tpsl_host_die("rank %d: no memory for its arguments", r->rank);
    r->instance = tpsl_make(program, NULL, &r->objects, &r->nobjects, &error);
    if (!r->instance)
        tpsl_host_die("rank %d: load %s: %s", r->rank, program, error);
}

/* Each on the CPUs of its rank: the kernel takes a page from the NUMA node of the CPU that touches it first. */
static void make_instances(const char *program, int argc, char **argv)
{
    cpu_set_t all;
    bool known = sched_getaffinity(0, sizeof all, &all) == 0;
    for (int i = 0; i < tpsl_job.nranks; i++) {
        tpsl_rank_pin(&tpsl_job.ranks[i]);
        make_instance(program, &tpsl_job.ranks[i], argc, argv);
    }
    if (known)
        sched_setaffinity(0, sizeof all, &all);
}

/* For ranks that run: one that is not started yet gets its signals when it is. */
static void pass_on_to(struct tpsl_rank *r)
{
    pid_t pid = *r->pid; /* which is 0 as soon as it has ended */
    if (!pid)
        return;
    uint64_t numbers = atomic_exchange(&r->to_pass_on, 0);
    for (int number = 1; numbers >> number; number++)
        if (numbers >> number & 1)
            kill(pid, number);
}

/* Some functions of libc call exit (err, argp_parse, error). For a rank that is the shim's:
 * libc's list and streams are not its own. Registered last, this comes first, and is there
 * again for the next rank. */
static void on_libc_exit(int status, void *unused)
{
    on_exit(on_libc_exit, NULL);
    void (*rank_exit)(int) = tpsl_current ? tpsl_instance_symbol(tpsl_current, "exit", NULL) : NULL;
    if (rank_exit)
        rank_exit(status);
}

static char *program; /* its file, without links */

const char *tpsl_program(void)
{
    return program;
}

/* libc's messages name the program. */
static void take_name(char *name)
{
    char *slash = strrchr(name, '/');
    program_invocation_name = name;
    program_invocation_short_name = slash ? slash + 1 : name;
}

static _Atomic uint64_t passed_on; /* a bit for each signal that came */

static void pass_on(int number)
{
    int before = errno;
    atomic_fetch_or(&passed_on, (uint64_t)1 << number);
    for (int i = 0; i < tpsl_job.nranks; i++) {
        atomic_fetch_or(&tpsl_job.ranks[i].to_pass_on, (uint64_t)1 << number);
        pass_on_to(&tpsl_job.ranks[i]);
    }
    errno = before;
}

/* The host lives as long as its ranks, which are in sessions of their own: what is sent
 * to it is meant for them. */
static void forward_signals(void)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGCONT, SIGWINCH};
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sigaction(all[i], &action, NULL);
}

/* Tells readers outside the process where the ranks are. */
static void tell(void)
{
    struct tpsl_rank *first = tpsl_job.ranks;
    struct tpsl_column rank = {(uintptr_t)&first->rank, sizeof *first};
    struct tpsl_column thread = {(uintptr_t)tpsl_job.pids, sizeof *tpsl_job.pids};
    struct tpsl_column owner = {(uintptr_t)&first->instance, sizeof *first};
    tpsl_census_ranks(tpsl_job.nranks, rank, thread, owner);
}

static struct tpsl_rank *rank_of(pid_t pid)
{
    for (int i = 0; i < tpsl_job.nranks; i++)
        if (tpsl_job.pids[i] == pid)
            return &tpsl_job.ranks[i];
    return NULL;
}

/* ---- the ends of ranks ----
 *
 * A thread of its own waits for them from the first start on. It makes system calls only: a
 * rank that was killed may have left any lock of libc held. */

static sem_t started;      /* ranks that were, and that the reaper has not collected */
static atomic_bool ending; /* no more are to be started */

/* Tells the launcher, which decides what becomes of the job. False: there is none. */
static bool report(const struct tpsl_rank *r, pid_t pid, int status)
{
    char line[80];
    int n = snprintf(line, sizeof line, "exit rank=%d pid=%d status=%d\n", r->rank, (int)pid, status);
    return tpsl_job.control >= 0 && write(tpsl_job.control, line, (size_t)n) == n;
}

/* A rank that ended; NULL: with WNOHANG none has, else there is none left. */
static struct tpsl_rank *collect(int flags, int *status)
{
    pid_t pid;
    while ((pid = waitpid(-1, status, flags)) > 0 || (pid < 0 && errno == EINTR)) {
        struct tpsl_rank *r = rank_of(pid);
        if (r) {
            *r->pid = 0;
            tpsl_job.told &= report(r, pid, *status);
            return r;
        }
    }
    return NULL;
}

static bool any_runs(void)
{
    for (int i = 0; i < tpsl_job.nranks; i++)
        if (tpsl_job.pids[i])
            return true;
    return false;
}

/* Which ranks are ended, and why, in one line. */
static void tell_end_of_set(const struct tpsl_rank *dead, int status)
{
    char line[4096], how[64] = "ended inside libc";
    const char *between = "";
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "died of signal %d (SIG%s)", WTERMSIG(status), sigabbrev_np(WTERMSIG(status)));
    size_t n = (size_t)snprintf(line, sizeof line, "tpsl: rank %d %s. It may have left locks held in the memory that it shares, so these ranks are ended: ", dead->rank, how);
    for (int i = 0; i < tpsl_job.nranks && n < sizeof line - 32; i++)
        if (tpsl_job.pids[i]) {
            n += (size_t)snprintf(line + n, sizeof line - n, "%s%d", between, tpsl_job.ranks[i].rank);
            between = ", ";
        }
    line[n++] = '\n';
    (void)!write(STDERR_FILENO, line, n);
}

static void kill_ranks(void)
{
    int status;
    for (int i = 0; i < tpsl_job.nranks; i++)
        if (tpsl_job.pids[i])
            kill(tpsl_job.pids[i], SIGKILL);
    while (collect(0, &status))
        ;
}

/* Without a launcher to tell, the parent learns how a rank ended by the host's own end. */
static _Noreturn void end_as(int status)
{
    struct rlimit none = {0};
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status) ? WEXITSTATUS(status) : 1); /* others were ended with it: no success */
    setrlimit(RLIMIT_CORE, &none); /* the rank has left the core that matters */
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

/* A signal that was sent to all asks the others to end, too: they have longer to do so. */
static long grace(int status)
{
    enum { CRASHED = 500, ASKED = 1900 }; /* milliseconds; the launcher gives ranks 2 s after SIGTERM */
    return WIFSIGNALED(status) && atomic_load(&passed_on) >> WTERMSIG(status) & 1 ? ASKED : CRASHED;
}

/* A rank has died somewhere, maybe with a lock that the others will want: the set ends with
 * it. The launcher ends the job; where it does not, ranks that can end by themselves have
 * a moment to do so. */
static _Noreturn void end_set(const struct tpsl_rank *dead, int status)
{
    const useconds_t tick = 10000;
    int other;
    atomic_store(&ending, true);
    for (long end = tpsl_milliseconds() + grace(status); tpsl_job.told && any_runs() && tpsl_milliseconds() < end;)
        if (!collect(WNOHANG, &other))
            usleep(tick);
    if (any_runs())
        tell_end_of_set(dead, status);
    kill_ranks();
    if (tpsl_job.told)
        _exit(0);
    end_as(status);
}

static void *reap(void *unused)
{
    int code = 0, status;
    tpsl_job.told = true;
    for (int left = tpsl_job.nranks; left > 0; left--) {
        while (sem_wait(&started) != 0)
            ;
        struct tpsl_rank *r = collect(0, &status);
        if (!r)
            tpsl_host_die("wait for ranks: %s", strerror(errno));
        if (WIFSIGNALED(status) || (r->unclean && any_runs()))
            end_set(r, status);
        if (!tpsl_job.told)
            code |= WEXITSTATUS(status);
    }
    _exit(code); /* streams left over are those of ranks that died */
}

/* ---- their starts ---- */

static void start_reaper(void)
{
    pthread_t thread;
    sem_init(&started, 0, 0);
    if (pthread_create(&thread, NULL, reap, NULL) != 0)
        tpsl_host_die("no thread to wait for ranks");
}

/* Ranks start side by side, as flat ones do: their constructors may wait for each other. */
static void start_ranks(void)
{
    for (int i = 0; i < tpsl_job.nranks && !atomic_load(&ending); i++) {
        struct tpsl_rank *r = &tpsl_job.ranks[i];
        if (!tpsl_rank_start(r))
            tpsl_host_die("rank %d: start its process: %s", r->rank, strerror(errno));
        sem_post(&started);
        pass_on_to(r);
    }
}

/* argv: the host, the program's file, the program's arguments from the 0th on. The block
 * of thread-locals that ends at the thread pointer is lent to the programs. */
int tpsl_host_main(int argc, char **argv, void *static_tls, size_t size)
{
    tpsl_static_tls_lend(static_tls, size);
    if (argc < 3)
        tpsl_host_die("%s is started by mpiexec", argv[0]);
    char *error = tpslHostBegin();
    if (error || !tpsl_service_start())
        tpsl_host_die("%s", error ? error : "no thread for the loader");
    tpsl_job.host = getpid();
    tpsl_set_siblings(tpsl_job.ids, (size_t)tpsl_job.nranks);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would take the ranks' statuses along */
    take_name(argv[2]);
    program = realpath(argv[1], NULL);
    if (!program)
        tpsl_host_die("%s: %s", argv[1], strerror(errno));
    tpsl_zone_start();
    tpsl_walk_prepare();
    tpsl_rest_prepare();
    tpsl_gate_use();
    tpsl_threads_start();
    on_exit(on_libc_exit, NULL);
    forward_signals();
    tell();
    make_instances(argv[1], argc - 2, argv + 2);
    start_reaper();
    start_ranks();
    tpslHostRuns();
    for (int i = 0; tpsl_job.pmi && i < tpsl_job.nranks; i++)
        close(tpsl_job.pmi[i]); /* the launcher hears of a rank's end by its session */
    tpsl_close_streams();
    for (;;)
        pause(); /* the reaper ends the process */
}
