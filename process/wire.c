// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "process.h"

#include <sys/stat.h>

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
