// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* leavers HOW: each rank has two threads that use functions of libc all the time, and ends by
 * HOW in the midst of it: return, exit, _exit, exec. With "stay" only the last one ends. */
#include "facilities.h"

#include <signal.h>

static void *use(void *start)
{
    for (unsigned i = (unsigned)(unsigned long)start;; i++)
        facilities[i % FACILITIES].use();
    return NULL;
}

int main(int argc, char **argv)
{
    int rank = atoi(getenv("PMI_RANK"));
    char *const echo[] = {"echo", "rank ends", NULL};
    for (unsigned long t = 0; t < 2; t++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, use, (void *)(t * 7 + (unsigned)rank)) != 0)
            return 2;
    }
    signal(SIGUSR1, SIG_IGN); /* by which mpiexec -disable-auto-cleanup tells of a death */
    if (rank == 0)
        puts("ready");
    fflush(stdout);
    usleep((useconds_t)(3000 * rank));
    if (strcmp(argv[1], "stay") == 0 && rank != atoi(getenv("PMI_SIZE")) - 1)
        use(NULL);
    if (strcmp(argv[1], "exit") == 0)
        exit(0);
    if (strcmp(argv[1], "_exit") == 0)
        _exit(0);
    if (strcmp(argv[1], "exec") == 0) {
        execv("/nowhere", echo); /* fails: the threads go on */
        execv("/bin/echo", echo);
    }
    return 0;
}
