// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* memset of an instance. MPICH's data types, for example, clear two tables of 128 KiB for handles as
 * they begin, which malloc has just got from the kernel: clearing makes 64 pages of what
 * was none. So a large piece is read first, and what is zero stays as it is; a page that
 * was never written to is then no page of its own. What a program clears, it may mean to
 * touch (NUMA), so this is for libraries only; and not for what is so large that it may be
 * a program's data in a library's hands (HDF5, ScaLAPACK), or stand in huge pages.
 */
#include "rebind.h"

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
