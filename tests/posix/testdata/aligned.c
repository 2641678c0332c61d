// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Thread-locals that stand on cache lines of their own. */
#include "posix.h"

#include <pthread.h>
#include <stdint.h>

static _Thread_local _Alignas(128) char two_lines[200] = "two";
static _Thread_local _Alignas(256) char four_lines[300] = "four";
static _Thread_local int unaligned = 7;

static void *look(void *unused)
{
    SAY("%d %d %s %s %d", (int)((uintptr_t)two_lines % 128), (int)((uintptr_t)four_lines % 256), two_lines, four_lines, unaligned);
    two_lines[0] = four_lines[0] = '-';
    unaligned = rank;
    return NULL;
}

static void thread_locals(void)
{
    pthread_t thread;
    look(NULL);
    for (int i = 0; i < 3; i++) {
        OK(pthread_create(&thread, NULL, look, NULL));
        OK(pthread_join(thread, NULL));
    }
    look(NULL);
}

const struct program programs[] = {PROGRAM(thread_locals), {NULL, NULL}};
