/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

/* late RANKS LIBRARY... : a program that knows nothing of tpsl opens libraries, the first with TPSL_Run, the last with function work of
 * plugin.c, and runs that on as many ranks, twice. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *find(void *library, const char *name)
{
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "late: %s\n", dlerror());
        exit(2);
    }
    return found;
}

int main(int argc, char **argv)
{
    int ranks = atoi(argv[1]), sum = 0;
    void *first = NULL, *last = NULL;
    for (int i = 2; i < argc; i++) {
        last = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        first = first ? first : last;
        if (!last)
            break;
    }
    int (*work)(void *) = find(last, "work");
    int (*run)(int, int (*)(void *), void *, const void *) = find(first, "TPSL_Run");
    for (int i = 0; i < 2; i++)
        sum += run(ranks, work, &ranks, NULL);
    printf("late: %d ranks, %d wrong\n", ranks, sum);
    return 0;
}
