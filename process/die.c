// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* How an error of the runtime ends the process: with a line, and with what MPI_Abort does. */
#include "process.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Asks the launcher to end the job, on the first session that is still there: the MPI library closes the sessions of
 * ranks one by one as it finalizes. */
static void abort_job(const struct tpsl_job *job, int code)
{
    char line[64];
    int n = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code);
    for (int i = 0; i < job->nranks; i++) {
        const struct tpsl_wire *pmi = &job->ranks[i].pmi;
        if (tpsl_wire_is_open(pmi) && send(pmi->fd, line, (size_t)n, MSG_NOSIGNAL) == n)
            return;
    }
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

_Noreturn void tpsl_die(int code, const char *format, ...)
{
    be_first();
    char line[1024] = "tpsl: ";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + 6, sizeof line - 7, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    (void)!write(STDERR_FILENO, line, strlen(line));
    flush_output();
    for (const struct tpsl_job *job = tpsl_first_job(); job; job = job->next)
        if (job->aborts)
            abort_job(job, code);
    _exit(code);
}

_Noreturn void tpsl_die_with(int code, const char *message)
{
    tpsl_die(code, "%s", message);
}
