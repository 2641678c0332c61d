// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* libtpslwitness: tells the proxy that a rank has initialised MPI.
 *
 * The proxy preloads it into programs whose MPI library does not seem to speak PMI, and into Python, whose MPI library it does not know. A rank whose MPI_Init has
 * returned, and which has said nothing over PMI, is a job of its own: the proxy then ends the job with a line,
 * where it would otherwise run as many jobs of one rank as there are ranks. A program that ends before MPI_Init is none
 * of its business.
 */
#include "../../process/behind.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static int control = -1;
static const char *rank;

/* The proxy has put this library in front of the user's. What the program starts is as without it. */
static void leave_environment(void)
{
    const char *preload = getenv("LD_PRELOAD");
    const char *others = preload ? strchr(preload, ':') : NULL;
    if (others)
        setenv("LD_PRELOAD", others + 1, 1);
    else
        unsetenv("LD_PRELOAD");
    unsetenv("TPSL_CONTROL_FD");
}

__attribute__((constructor)) static void begin(void)
{
    const char *descriptor = getenv("TPSL_CONTROL_FD");
    rank = getenv("PMI_RANK");
    if (descriptor) {
        control = atoi(descriptor);
        fcntl(control, F_SETFD, FD_CLOEXEC);
    }
    if (rank)
        rank = strdup(rank);
    leave_environment();
}

static int tell(int result)
{
    if (control >= 0 && rank && result == 0)
        dprintf(control, "initialized rank=%s\n", rank);
    return result;
}

static void *next(const char *name, const void *caller)
{
    void *function = tpsl_behind(name, caller);
    if (!function) {
        fprintf(stderr, "libtpslwitness: %s is in no library behind this one\n", name);
        _exit(255);
    }
    return function;
}

/* Fortran's MPI_INIT calls one of these in C. */
#define WITNESSED(name)                                                         \
    EXPORTED int name(long a, long b, long c, long d)                                                        \
    {                                                                                                        \
        return tell(((int (*)(long, long, long, long))next(#name, __builtin_return_address(0)))(a, b, c, d)); \
    }
WITNESSED(MPI_Init)
WITNESSED(PMPI_Init)
WITNESSED(MPI_Init_thread)
WITNESSED(PMPI_Init_thread)
WITNESSED(MPI_Session_init)
WITNESSED(PMPI_Session_init)
