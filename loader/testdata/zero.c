// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* New memory of some pages between two that nobody may touch: a mapping of its own. */
static char *fresh(size_t pages)
{
    char *p = mmap(NULL, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(p + PAGE, pages * PAGE, PROT_READ | PROT_WRITE);
    return p + PAGE;
}

/* Memory that was cleared as it was new, but for `written` pages. */
uintptr_t clear_new(uintptr_t pages, uintptr_t written)
{
    char *p = fresh(pages);
    for (uintptr_t i = 0; i < written; i++)
        p[2 * i * PAGE + 7] = 1;
    return (uintptr_t)memset(p, 0, pages * PAGE);
}

static int all(const char *p, size_t n, char c)
{
    while (n > 0 && *p == c)
        p++, n--;
    return n == 0;
}

/* Sets a part of what is full of ones, and tells whether that and no more was set. */
int sets(uintptr_t from, uintptr_t n, int byte)
{
    enum { PAGES = 64 };
    char *p = fresh(PAGES);
    memset(p, 1, PAGES * PAGE);
    if (memset(p + from, byte, n) != p + from)
        return 0;
    return all(p, from, 1) && all(p + from, n, (char)byte) && all(p + from + n, PAGES * PAGE - from - n, 1);
}
