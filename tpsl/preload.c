// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The launcher preloads stand-ins into a program that is linked with MPICH. Once they are loaded, their
 * names are removed from the environment: programs that this one starts do not need them, and would
 * load libtpsl with them. Other entries of LD_PRELOAD are the user's and stay.
 */
#include "dispatch.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char separators[] = ": "; /* ld.so(8) */

const char *tpsl_folder(void)
{
    static char folder[PATH_MAX];
    Dl_info self;
    if (*folder || !dladdr(separators, &self) || !realpath(self.dli_fname, folder))
        return folder;
    strrchr(folder, '/')[1] = 0;
    strncat(folder, "tpsl/", PATH_MAX - 1 - strlen(folder));
    return folder;
}

/* Takes the entries in the folder out of the list; what stays is moved together. */
static void drop(char *list, const char *folder)
{
    char *to = list;
    for (const char *from = list; *from;) {
        size_t n = strcspn(from, separators);
        n += strspn(from + n, separators);
        if (strncmp(from, folder, strlen(folder)) != 0) {
            memmove(to, from, n);
            to += n;
        }
        from += n;
    }
    while (to > list && strchr(separators, to[-1]))
        to--;
    *to = 0;
}

/* Before the Go runtime starts, whose threads read the environment. */
__attribute__((constructor(102))) static void drop_standins(void)
{
    char *list = getenv("LD_PRELOAD");
    const char *folder = tpsl_folder(); /* as the launcher writes it */
    if (!list || !*folder)
        return;
    drop(list, folder);
    if (!*list)
        unsetenv("LD_PRELOAD");
}
