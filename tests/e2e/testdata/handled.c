// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* All ranks but the last end by a handler that finds them asleep. The last one outlives them by more than
 * a set has that is ended with them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void end(int number) { _exit(0); }

int main(void)
{
    int rank = atoi(getenv("PMI_RANK")), ranks = atoi(getenv("PMI_SIZE"));
    signal(SIGALRM, end);
    if (rank < ranks - 1)
        alarm(1);
    for (; rank == 0;)
        pause();
    sleep(3);
    puts("the others went on");
    return 0;
}
