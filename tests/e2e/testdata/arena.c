// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A rank ends by _exit while a thread of it sleeps in poll. The array of poll is among the first that the thread
 * has allocated, so it is near the lock of an arena of malloc, which begins at a multiple of 64 MiB. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int told[2];

static void *sleeper(void *unused)
{
    const uintptr_t arena = 64 << 20, near = 4096;
    for (int tries = 0; tries < 1000; tries++) {
        struct pollfd *p = malloc(sizeof *p);
        if ((uintptr_t)p % arena < near) {
            *p = (struct pollfd){.fd = told[0]};
            (void)!write(told[1], "y", 1);
            while (poll(p, 1, -1) < 0)
                ;
        }
    }
    (void)!write(told[1], "n", 1);
    return NULL;
}

/* The argument is a FIFO, by which rank 0 learns that rank 1 has ended. */
int main(int argc, char **argv)
{
    char found = 0;
    int fifo = open(argv[1], strcmp(getenv("PMI_RANK"), "0") == 0 ? O_RDONLY : O_WRONLY);
    if (strcmp(getenv("PMI_RANK"), "0") == 0) {
        while (read(fifo, &found, 1) != 0)
            ;
        puts("the other rank has ended");
        return 0;
    }
    pthread_t thread;
    if (pipe(told) != 0)
        return 1;
    for (int threads = 0; found != 'y' && threads < 64; threads++) {
        pthread_create(&thread, NULL, sleeper, NULL);
        (void)!read(told[0], &found, 1);
    }
    if (found != 'y')
        puts("no thread has an arena of its own");
    fflush(stdout);
    usleep(100000); /* the thread is in poll, very likely */
    _exit(0);
}
