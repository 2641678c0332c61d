/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * opal_library: shared segments as Open MPI has them. A process that attaches a segment of its own uses the mapping that it has.
 */
#include "opal_library.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int opal_shmem_segment_create(struct segment *s, const char *file, size_t size)
{
    int fd = open(file, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        return -1;
    s->maker = getpid();
    s->size = size;
    snprintf(s->file, sizeof s->file, "%s", file);
    s->base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return close(fd);
}

void *opal_shmem_segment_attach(struct segment *s)
{
    if (s->maker != getpid()) {
        int fd = open(s->file, O_RDWR);
        s->base = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    return s->base;
}

int opal_shmem_segment_detach(struct segment *s)
{
    return munmap(s->base, s->size);
}
