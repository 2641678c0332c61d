// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* How an error of the runtime ends the process: with a line, and with what MPI_Abort does. */
#include "process.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Asks the launcher to end the job, on a rank's session. False: that is closed. */
static bool abort_by(const struct tpsl_rank *r, int code)
{
    char line[64];
    int n = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code);
    return tpsl_wire_is_open(&r->pmi) && send(r->pmi.fd, line, (size_t)n, MSG_NOSIGNAL) == n;
}

/* Waits until the launcher has read all that was written to a session, and has closed it. If the process ended before,
 * an answer to an earlier request could fail, and the launcher would read no further. */
static void await_abort(const struct tpsl_rank *r)
{
    enum { PATIENCE_MS = 2000 };
    struct pollfd closed = {.fd = r->pmi.fd};
    shutdown(r->pmi.fd, SHUT_WR);
    poll(&closed, 1, PATIENCE_MS);
}

/* On the first session that is still there: the MPI library closes the sessions of ranks one by one as it finalizes. */
static void abort_job(const struct tpsl_job *job, int code)
{
    for (int i = 0; i < job->nranks && !abort_by(&job->ranks[i], code); i++)
        ;
}

/* The program's buffered output is not lost, unless a thread holds the stream. */
static void flush_output(void)
{
    if (ftrylockfile(stdout) == 0) {
        fflush_unlocked(stdout);
        funlockfile(stdout);
    }
}

/* The first error ends the process: another thread of it that comes here waits for that. The memory may be that of
 * several processes, each of which has a first error. */
static void be_first(void)
{
    static _Atomic pid_t dying;
    pid_t other = 0, self = getpid();
    if (!atomic_compare_exchange_strong(&dying, &other, self) && other == self)
        for (;;)
            pause();
}

/* "tpsl: PREFIX MESSAGE" in one write. */
static void __attribute__((format(printf, 2, 0))) say(const char *prefix, const char *format, va_list arguments)
{
    char line[1024];
    int n = snprintf(line, sizeof line, "tpsl: %s", prefix);
    vsnprintf(line + n, sizeof line - 1 - (size_t)n, format, arguments);
    strcat(line, "\n");
    (void)!write(STDERR_FILENO, line, strlen(line));
}

_Noreturn void tpsl_die(int code, const char *format, ...)
{
    be_first();
    va_list arguments;
    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
    flush_output();
    for (const struct tpsl_job *job = tpsl_first_job(); job; job = job->next)
        if (job->aborts)
            abort_job(job, code);
    _exit(code);
}

_Noreturn void tpsl_exit(int code)
{
    be_first();
    flush_output();
    _exit(code);
}

_Noreturn void tpsl_die_as(const struct tpsl_rank *r, int code, tpsl_abort *abort, const char *format, ...)
{
    be_first();
    char who[32];
    snprintf(who, sizeof who, "rank %d: ", r->number);
    va_list arguments;
    va_start(arguments, format);
    say(who, format, arguments);
    va_end(arguments);
    if (abort_by(r, code))
        await_abort(r);
    else
        abort(r, code);
    _exit(code);
}

_Noreturn void tpsl_die_with(int code, const char *message)
{
    tpsl_die(code, "%s", message);
}
