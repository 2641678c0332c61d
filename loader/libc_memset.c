// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* memset of an instance. Libraries clear large tables that malloc has just got from the kernel: MPICH
 * clears two tables of 128 KiB when it starts. To clear them would allocate 64 pages. So a large piece is
 * read first, and bytes that are zero are not written, because a page that was never written to takes no
 * memory.
 *
 * This is for libraries only. A program may clear memory in order to touch it, which decides its NUMA
 * node. Pieces from 1 MiB on are written without being read, too. They may be data of the program that a
 * library works on (HDF5, ScaLAPACK), or they may be in huge pages.
 */
#include "libc.h"

#include <string.h>

enum { LARGE = 64 << 10, HUGE = 1 << 20, PIECE = 4096 };

static bool is_zero(const char *p, size_t n)
{
    return *p == 0 && memcmp(p, p + 1, n - 1) == 0;
}

void *tpsl_memset(void *to, int byte, size_t n)
{
    if (n < LARGE || n >= HUGE || (unsigned char)byte != 0)
        return memset(to, byte, n);
    char *p = to, *end = p + n;
    for (size_t piece; p < end; p += piece) {
        piece = PIECE - (uintptr_t)p % PIECE;
        if (piece > (size_t)(end - p))
            piece = (size_t)(end - p);
        if (!is_zero(p, piece))
            memset(p, 0, piece);
    }
    return to;
}
