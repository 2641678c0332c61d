// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The host process: makes the instances, starts a process for each, and ends as they
 * ended. */
#include "host.h"

#include <errno.h>
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

/* Leaves it for wait to collect. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
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

/* The first rank brings up the objects placed once, which later ones need complete. */
static void start_ranks(const char *program, int argc, char **argv)
{
    make_instances(program, argc, argv);
    for (int i = 0; i < tpsl_job.nranks; i++) {
        struct tpsl_rank *r = &tpsl_job.ranks[i];
        if (!tpsl_rank_start(r))
            tpsl_host_die("rank %d: start its process: %s", r->rank, strerror(errno));
        if (tpsl_job.control >= 0)
            dprintf(tpsl_job.control, "start rank=%d pid=%d\n", r->rank, (int)*r->pid);
        while (i == 0 && !atomic_load(&r->up) && !has_ended(*r->pid))
            usleep(20);
    }
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

static atomic_bool running;        /* all ranks were started */
static _Atomic uint64_t to_pass_on; /* a bit for each signal */

static void pass_all_on(void)
{
    uint64_t numbers = atomic_exchange(&to_pass_on, 0);
    for (int number = 1; numbers >> number; number++)
        for (int i = 0; i < tpsl_job.nranks && numbers >> number & 1; i++)
            if (tpsl_job.pids[i])
                kill(tpsl_job.pids[i], number);
}

/* What comes before all ranks run waits for the last of them. */
static void pass_on(int number)
{
    int before = errno;
    atomic_fetch_or(&to_pass_on, (uint64_t)1 << number);
    if (atomic_load(&running))
        pass_all_on();
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

/* Kills what is left of the ranks and ends as one of them ended: without a launcher to
 * tell, their parent learns it so. */
static _Noreturn void crash(int signal_number)
{
    struct rlimit none = {0};
    for (int i = 0; i < tpsl_job.nranks; i++)
        if (tpsl_job.pids[i])
            kill(tpsl_job.pids[i], SIGKILL);
    while (wait(NULL) > 0 || errno == EINTR)
        ;
    setrlimit(RLIMIT_CORE, &none); /* the rank has left the core that matters */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    _exit(128 + signal_number);
}

/* Tells the launcher, which decides what becomes of the job. */
static bool report(const struct tpsl_rank *r, pid_t pid, int status)
{
    char line[80];
    int n = snprintf(line, sizeof line, "exit rank=%d pid=%d status=%d\n", r->rank, (int)pid, status);
    return tpsl_job.control >= 0 && write(tpsl_job.control, line, (size_t)n) == n;
}

static int wait_for_ranks(void)
{
    int code = 0, status;
    for (int left = tpsl_job.nranks; left > 0;) {
        pid_t pid = wait(&status);
        struct tpsl_rank *r = rank_of(pid);
        if (pid < 0 && errno != EINTR)
            tpsl_host_die("wait for ranks: %s", strerror(errno));
        if (!r)
            continue;
        left--;
        *r->pid = 0;
        if (report(r, pid, status))
            continue;
        if (WIFSIGNALED(status))
            crash(WTERMSIG(status));
        code |= WEXITSTATUS(status);
    }
    return code;
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
    tpsl_threads_start();
    on_exit(on_libc_exit, NULL);
    forward_signals();
    tell();
    start_ranks(argv[1], argc - 2, argv + 2);
    tpslHostRuns();
    atomic_store(&running, true);
    pass_all_on();
    for (int i = 0; tpsl_job.pmi && i < tpsl_job.nranks; i++)
        close(tpsl_job.pmi[i]); /* the launcher hears of a rank's end by its session */
    tpsl_close_streams();
    _exit(wait_for_ranks()); /* streams left over are those of ranks that died */
}
