/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * opal_library.h: segments of opal_library, and how standard_library and its program use them.
 */
#ifndef OPAL_LIBRARY_H
#define OPAL_LIBRARY_H

#include <stddef.h>
#include <sys/types.h>

struct segment {
    pid_t maker; /* 0: not made yet */
    size_t size;
    void *base;
    char file[256];
};

int opal_shmem_segment_create(struct segment *, const char *file, size_t size);
void *opal_shmem_segment_attach(struct segment *);
int opal_shmem_segment_detach(struct segment *);

#endif
