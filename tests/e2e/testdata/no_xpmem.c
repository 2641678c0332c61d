// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* no_xpmem: XPMEM's library where its device is missing. */
#include <errno.h>
#include <stdint.h>

static int64_t refuse(void)
{
    errno = ENOENT;
    return -1;
}

int xpmem_version(void)
{
    return (int)refuse();
}

int64_t xpmem_make(void)
{
    return refuse();
}

int64_t xpmem_get(void)
{
    return refuse();
}

int64_t xpmem_attach(void)
{
    return refuse();
}

int xpmem_detach(void)
{
    return (int)refuse();
}

int xpmem_release(void)
{
    return (int)refuse();
}

int xpmem_remove(void)
{
    return (int)refuse();
}
