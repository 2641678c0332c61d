/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * process FILE SEED: one process that does the work of FILE. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    long (*work)(long) = library ? (long (*)(long))dlsym(library, "work") : NULL;
    if (!work) {
        fprintf(stderr, "process: %s\n", argc == 3 ? dlerror() : "want FILE SEED");
        return 1;
    }
    printf("%s %ld\n", argv[2], work(atol(argv[2])));
    return 0;
}
