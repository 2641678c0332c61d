// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* stuck_start: stays in a constructor for good and ignores what would end it. */
#include <signal.h>
#include <unistd.h>

__attribute__((constructor)) static void stay(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    (void)!write(STDOUT_FILENO, "ready\n", 6);
    for (;;)
        pause();
}

int main(void)
{
    return 0;
}
