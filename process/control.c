// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Lines to the launcher about ranks that it cannot see itself: threads, and processes that
 * are not its children. Package hydra reads them.
 */
#include "process.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Formats only words and integers, so snprintf takes no lock and no memory. */
static bool __attribute__((format(printf, 2, 3))) tell(const struct tpsl_job *job, const char *format, ...)
{
    char line[80];
    if (!tpsl_wire_is_open(&job->control))
        return false;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return write(job->control.fd, line, (size_t)n) == n;
}

bool tpsl_tell_start(const struct tpsl_job *job, int rank, pid_t pid)
{
    return tell(job, "start rank=%d pid=%d\n", rank, (int)pid);
}

bool tpsl_tell_initialized(const struct tpsl_job *job, int rank)
{
    return tell(job, "initialized rank=%d\n", rank);
}

bool tpsl_tell_exit(const struct tpsl_job *job, int rank, pid_t pid, int status)
{
    return tell(job, "exit rank=%d pid=%d status=%d\n", rank, (int)pid, status);
}

bool tpsl_tell_fault(const struct tpsl_job *job, int rank, int signal)
{
    return tell(job, "fault rank=%d signal=%d\n", rank, signal);
}

bool tpsl_tell_abort(const struct tpsl_job *job, int rank, int code)
{
    return tell(job, "abort rank=%d code=%d\n", rank, code);
}

bool tpsl_tell_leave(const struct tpsl_job *job, int rank)
{
    return tell(job, "leave rank=%d\n", rank);
}
