// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A library whose constructor waits until it is let through: it writes a byte to one pipe
 * and reads one from another, GATE=in,out. With USER, one that needs it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef USER
extern int is_open(void);
static int was_open;
__attribute__((constructor)) static void look(void) { was_open = is_open(); }
int found_open(void) { return was_open; }
#else
static int open_now, times;
__attribute__((constructor)) static void wait_at_gate(void)
{
    int from = -1, to = -1;
    char byte = 1;
    const char *gate = getenv("GATE");
    times++;
    if (gate && sscanf(gate, "%d,%d", &from, &to) == 2 && (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1))
        abort();
    open_now = 1;
}
int is_open(void) { return open_now && times == 1; }
void *where(void) { return &open_now; }
#endif
