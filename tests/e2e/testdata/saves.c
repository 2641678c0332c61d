// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Rank 0 dies of SIGTERM. Rank 1 takes a second to save its state. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void save(int number)
{
    sleep(1);
    (void)!write(STDOUT_FILENO, "saved\n", 6);
    _exit(0);
}

int main(void)
{
    if (atoi(getenv("PMI_RANK")) == 1)
        signal(SIGTERM, save);
    for (;;)
        pause();
}
