// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A program whose constructor waits for ever. */
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void wait_for_ever(void)
{
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}

int main(void) { return 0; }
