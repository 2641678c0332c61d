// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Rank 0 dies of SIGTERM. Rank 1 takes 0.7 s to save its state: more than the others have after a crash, which is 0.5 s, and so much less
 * than 2 s that it may wait for a processor, too. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void save(int number)
{
    usleep(700000);
    (void)!write(STDOUT_FILENO, "saved\n", 6);
    _exit(0);
}

int main(void)
{
    if (atoi(getenv("PMI_RANK")) == 1) {
        signal(SIGTERM, save);
        (void)!write(STDOUT_FILENO, "ready\n", 6);
    }
    for (;;)
        pause();
}
