/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * standard_library: a library with the standard ABI that has few functions. Each process is a job of as many ranks as
 * PMI_SIZE says. MAJOR is the version of the ABI that it claims. Its sessions are pointers with bits in both halves. With
 * OPEN_MPI it looks like Open MPI's, and PMIX_RANK names the rank; it is no client of PMIx, so the world is of one rank for it.
 * With OPAL it has shared segments, by opal_library.
 */
#include "standard/mpi_abi.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MAJOR
#define MAJOR 1
#endif

#ifdef OPEN_MPI
int ompi_mpi_init; /* what Open MPI is known by */
#endif

static int level;
static atomic_int inside;
static char sessions[1 << 20];

/* The functions themselves; programs know each by two names. */
#define DEFINE(name, ...) \
    int P##name(__VA_ARGS__); \
    int name(__VA_ARGS__) __attribute__((weak, alias("P" #name))); \
    int P##name(__VA_ARGS__)

/* Tells the launcher a line over PMI, and awaits its answer. Nothing happens without a launcher. */
static int tell(const char *line)
{
    char answer[256];
    const char *fd = getenv("PMI_FD");
    size_t length = strlen(line);
    if (!fd)
        return MPI_SUCCESS;
    return write(atoi(fd), line, length) != (ssize_t)length || read(atoi(fd), answer, sizeof answer) <= 0;
}

DEFINE(MPI_Init, int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return tell("cmd=init pmi_version=1 pmi_subversion=1\n");
}

DEFINE(MPI_Init_thread, int *argc, char ***argv, int required, int *provided)
{
    (void)argc;
    (void)argv;
    level = *provided = required;
    return tell("cmd=init pmi_version=1 pmi_subversion=1\n");
}

DEFINE(MPI_Finalize, void)
{
    return tell("cmd=finalize\n");
}

DEFINE(MPI_Query_thread, int *provided)
{
    *provided = level;
    return MPI_SUCCESS;
}

DEFINE(MPI_Get_version, int *major, int *minor)
{
    *major = 5;
    *minor = 0;
    return MPI_SUCCESS;
}

DEFINE(MPI_Abi_get_version, int *major, int *minor)
{
    *major = MAJOR;
    *minor = MAJOR < 0 ? -1 : 0;
    return MPI_SUCCESS;
}

static int number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

DEFINE(MPI_Comm_size, MPI_Comm comm, int *size)
{
    *size = number("PMI_SIZE", 1);
    return comm != MPI_COMM_WORLD;
}

DEFINE(MPI_Comm_rank, MPI_Comm comm, int *rank)
{
#ifdef OPEN_MPI
    *rank = number("PMIX_RANK", 0);
#else
    *rank = number("PMI_RANK", 0);
#endif
    return comm != MPI_COMM_WORLD;
}

/* Returns once two threads have been inside. */
DEFINE(MPI_Barrier, MPI_Comm comm)
{
    inside++;
    while (inside < 2)
        ;
    return comm != MPI_COMM_WORLD;
}

DEFINE(MPI_Session_init, MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    *session = (MPI_Session)(sessions + ((char *)info - (char *)handler));
    return MPI_SUCCESS;
}

DEFINE(MPI_Session_finalize, MPI_Session *session)
{
    *session = NULL;
    return MPI_SUCCESS;
}

#ifdef OPAL
#include "opal_library.h"

/* The info is a segment's description in the program. It is made, or attached if it is there. */
DEFINE(MPI_Alloc_mem, long size, MPI_Info info, void *base)
{
    struct segment *s = (struct segment *)info;
    if (!s->maker && opal_shmem_segment_create(s, getenv("SEGMENT"), (size_t)size) != 0)
        return 1;
    *(void **)base = opal_shmem_segment_attach(s);
    return MPI_SUCCESS;
}

DEFINE(MPI_Free_mem, void *segment)
{
    return opal_shmem_segment_detach(segment);
}
#endif
