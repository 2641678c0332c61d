// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The one way an error of the runtime ends: a line, then what MPI_Abort does. */
#include "dispatch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int pmi_fd = -1;

void tpsl_set_pmi_fd(int fd)
{
    pmi_fd = fd;
}

/* The program's buffered output is not lost, unless a thread holds the stream. */
static void flush_output(void)
{
    if (ftrylockfile(stdout) == 0) {
        fflush_unlocked(stdout);
        funlockfile(stdout);
    }
}

_Noreturn void tpsl_die(int code, const char *format, ...)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one); /* never released: the first error ends the process */
    char line[1024] = "tpsl: ";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + 6, sizeof line - 7, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    (void)!write(STDERR_FILENO, line, strlen(line));
    flush_output();
    if (pmi_fd >= 0)
        dprintf(pmi_fd, "cmd=abort exitcode=%d\n", code);
    _exit(code);
}

/* For Go, which cannot call variadic functions. */
_Noreturn void tpsl_die_with(int code, const char *message)
{
    tpsl_die(code, "%s", message);
}
