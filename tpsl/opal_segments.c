// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Shared segments of Open MPI. The description of a segment, which ranks send to each other, has the process id of the rank that made
 * it. A rank that attaches a segment of its own process id takes it for its own, and uses the maker's mapping. In a process with
 * several ranks, the maker would then unmap the segment while the others still use it.
 *
 * So the description has a number of the rank in place of the process id, and each rank attaches the segment, and detaches it. The
 * loader still maps it once (loader/libc_mmap.c).
 */
#include "dispatch.h"

#include <sys/types.h>
#include <unistd.h>

/* Open MPI's description of a segment, from version 1.5 to version 6. */
struct opal_segment {
    pid_t maker; /* what follows differs from version to version */
};

/* A number that no other rank of this host has, and no process: it is negative. A process id has 22 bits at most. Ranks that are
 * SLOTS apart have one number, and are to each other as without it. */
static pid_t number_of_rank(void)
{
    enum { SLOTS = 1 << 9 };
    return -getpid() * SLOTS - tpsl_self->slot % SLOTS;
}

int tpsl_opal_segment_create(struct opal_segment *s, const char *file, size_t size)
{
    int (*create)(struct opal_segment *, const char *, size_t) = tpsl_wrapped("opal_shmem_segment_create");
    int rc = create(s, file, size);
    if (tpsl_self && s->maker == getpid())
        s->maker = number_of_rank();
    return rc;
}

void *tpsl_opal_segment_attach(struct opal_segment *s)
{
    void *(*attach)(struct opal_segment *) = tpsl_wrapped("opal_shmem_segment_attach");
    pid_t maker = s->maker;
    if (tpsl_self && maker == number_of_rank())
        s->maker = getpid();
    void *address = attach(s);
    s->maker = maker;
    return address;
}
