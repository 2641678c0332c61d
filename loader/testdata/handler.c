// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>
#include <stddef.h>

static volatile int heard;
static void (*before)(int);
static void hear(int s)
{
    heard++;
    if (before && before != SIG_DFL && before != SIG_IGN)
        before(s);
}
void listen_usr1(void) { before = signal(SIGUSR1, hear); }
void unlisten_usr1(void) { signal(SIGUSR1, SIG_DFL); }
int times_heard(void) { return heard; }
int before_is_function(void) { return before != SIG_DFL && before != SIG_IGN; }
