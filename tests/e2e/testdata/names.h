/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names of tpsl/names/mpich.names with their stubs, and thread-locals of libtpsl.
 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 4096 };

static char *name[MAX];
static int stub[MAX];
static int names, stubs;

static void read_names(const char *path)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    while (fgets(line, sizeof line, f)) {
        if (*line == '#')
            continue;
        strtok(line, " \n"); /* the version */
        for (char *w = strtok(NULL, " \n"); w; w = strtok(NULL, " \n")) {
            name[names] = strdup(w);
            stub[names++] = stubs;
        }
        stubs++;
    }
    fclose(f);
}

static int find_block(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    if (!strstr(info->dlpi_name, "libtpsl.so.0"))
        return 0;
    *(char **)out = info->dlpi_tls_data;
    return 1;
}

/* The calling thread's variable at an offset in libtpsl's TLS segment. */
static void *thread_local_at(size_t offset)
{
    char *block = NULL;
    dl_iterate_phdr(find_block, &block);
    return block + offset;
}
