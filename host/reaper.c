// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The ends of ranks. A thread of the host waits for them from the first start on. It makes
 * system calls only: a rank that was killed may have left any lock of libc held. */
#include "host.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool told; /* the launcher has heard of all that ended */
static sem_t started;      /* ranks that were, and that the reaper has not collected */
static atomic_bool ending; /* no more are to be started */

/* A rank that ended; NULL: with WNOHANG none has, else there is none left. */
static struct tpsl_rank_process *collect(int flags, int *status)
{
    pid_t pid;
    while ((pid = waitpid(-1, status, flags)) > 0 || (pid < 0 && errno == EINTR)) {
        struct tpsl_rank_process *r = tpsl_rank_of(pid);
        if (r) {
            *r->pid = 0;
            told &= tpsl_tell_exit(tpsl_host.job, r->rank->number, pid, *status);
            return r;
        }
    }
    return NULL;
}

static bool any_runs(void)
{
    for (int i = 0; i < tpsl_host.nranks; i++)
        if (tpsl_host.pids[i])
            return true;
    return false;
}

/* Which ranks are ended, and why, in one line. */
static void tell_end_of_set(const struct tpsl_rank_process *dead, int status)
{
    char line[4096], how[64] = "ended inside libc";
    const char *between = "";
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "died of signal %d (SIG%s)", WTERMSIG(status), sigabbrev_np(WTERMSIG(status)));
    size_t n = (size_t)snprintf(line, sizeof line, "tpsl: rank %d %s. It may have left locks held in the memory that it shares, so these ranks are ended: ", dead->rank->number, how);
    for (int i = 0; i < tpsl_host.nranks && n < sizeof line - 32; i++)
        if (tpsl_host.pids[i]) {
            n += (size_t)snprintf(line + n, sizeof line - n, "%s%d", between, tpsl_host.ranks[i].rank->number);
            between = ", ";
        }
    line[n++] = '\n';
    (void)!write(STDERR_FILENO, line, n);
}

static void kill_ranks(void)
{
    int status;
    for (int i = 0; i < tpsl_host.nranks; i++)
        if (tpsl_host.pids[i])
            kill(tpsl_host.pids[i], SIGKILL);
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

/* A signal that was forwarded to all ranks asks the others to end, too, so they have longer to do so. */
static long grace(int status)
{
    enum { CRASHED = 500, ASKED = 1900 }; /* milliseconds; the launcher gives ranks 2 s after SIGTERM */
    return WIFSIGNALED(status) && tpsl_was_forwarded(WTERMSIG(status)) ? ASKED : CRASHED;
}

/* A rank has died somewhere, maybe with a lock that the others will want: the set ends with
 * it. The launcher ends the job; where it does not, ranks that can end by themselves have
 * a moment to do so. */
static _Noreturn void end_set(const struct tpsl_rank_process *dead, int status)
{
    const useconds_t tick = 10000;
    int other;
    atomic_store(&ending, true);
    for (long end = tpsl_milliseconds() + grace(status); told && any_runs() && tpsl_milliseconds() < end;)
        if (!collect(WNOHANG, &other))
            usleep(tick);
    if (any_runs())
        tell_end_of_set(dead, status);
    kill_ranks();
    if (told)
        _exit(0);
    end_as(status);
}

static void *reap(void *unused)
{
    int code = 0, status;
    told = true;
    for (int left = tpsl_host.nranks; left > 0; left--) {
        while (sem_wait(&started) != 0)
            ;
        struct tpsl_rank_process *r = collect(0, &status);
        if (!r)
            tpsl_die(1, "wait for ranks: %s", strerror(errno));
        if (WIFSIGNALED(status) || (r->unclean && any_runs()))
            end_set(r, status);
        if (!told)
            code |= WEXITSTATUS(status);
    }
    _exit(code); /* streams left over are those of ranks that died */
}

void tpsl_reaper_start(void)
{
    pthread_t thread;
    sem_init(&started, 0, 0);
    if (pthread_create(&thread, NULL, reap, NULL) != 0)
        tpsl_die(1, "no thread to wait for ranks");
}

void tpsl_reaper_add(void)
{
    sem_post(&started);
}

bool tpsl_reaper_ends_all(void)
{
    return atomic_load(&ending);
}
