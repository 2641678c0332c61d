// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Standard streams over descriptors that are open for the other direction only. */
#include "../posix.h"

static void others(void)
{
    FILE *told = fopen(path_of("told"), "w");
    errno = 0;
    int c = getchar();
    fprintf(told, "in: %d %m, %d %d\n", c, ferror(stdin) != 0, feof(stdin));
    int set = setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    errno = 0;
    int written = printf("lost\n");
    fprintf(told, "out: %d %m, %d %d\n", written, ferror(stdout) != 0, set);
    errno = 0;
    written = fputs("lost\n", stderr);
    fprintf(told, "error: %d %m, %d\n", written, ferror(stderr) != 0);
}

const struct program programs[] = {PROGRAM(others), {NULL, NULL}};
