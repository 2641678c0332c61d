// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The one way an error of the runtime ends: a line, then what MPI_Abort does. */
#include "dispatch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* One for each rank: the MPI library closes them one by one as it finalizes. */
static struct tpsl_wire *pmi;
static int npmi;

void tpsl_wire_open(struct tpsl_wire *w, int fd)
{
    struct stat st;
    *w = (struct tpsl_wire){.fd = -1};
    if (fd >= 0 && fstat(fd, &st) == 0)
        *w = (struct tpsl_wire){fd, st.st_dev, st.st_ino};
}

bool tpsl_wire_is_open(const struct tpsl_wire *w)
{
    struct stat st;
    return w->fd >= 0 && fstat(w->fd, &st) == 0 && st.st_dev == w->device && st.st_ino == w->inode;
}

void tpsl_add_pmi_fd(int fd)
{
    struct tpsl_wire *more = realloc(pmi, (size_t)(npmi + 1) * sizeof *more);
    if (!more)
        return; /* the launcher then learns of an abort by the exit code */
    pmi = more;
    tpsl_wire_open(&pmi[npmi++], fd);
}

/* Asks the launcher to end the job, on the first session that is still there. */
static void abort_job(int code)
{
    char line[64];
    int n = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code);
    for (int i = 0; i < npmi; i++)
        if (tpsl_wire_is_open(&pmi[i]) && send(pmi[i].fd, line, (size_t)n, MSG_NOSIGNAL) == n)
            return;
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
    abort_job(code);
    _exit(code);
}

/* For Go, which cannot call variadic functions. */
_Noreturn void tpsl_die_with(int code, const char *message)
{
    tpsl_die(code, "%s", message);
}
