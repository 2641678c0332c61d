// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Threads on stacks in memory of the program's own. */
#include "../posix.h"

#include <pthread.h>
#include <sys/mman.h>

static void *nothing(void *argument) { return argument; }

static void own(void)
{
    for (size_t kib = 16; kib <= 128; kib += 16) {
        void *memory = mmap(NULL, kib << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        pthread_attr_t a;
        pthread_t thread;
        OK(pthread_attr_init(&a));
        OK(pthread_attr_setstack(&a, memory, kib << 10));
        int error = pthread_create(&thread, &a, nothing, NULL);
        SAY("%zu KiB: %s", kib, strerror(error));
        if (error == 0)
            OK(pthread_join(thread, NULL));
    }
}

const struct program programs[] = {PROGRAM(own), {NULL, NULL}};
