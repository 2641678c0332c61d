// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* libc has some descriptors open from one call to the next, as getpwent has. The number is libc's, once for all ranks; the
 * descriptor belongs to the rank that made the first call. In another rank the number means another file, or none. So a rank
 * makes all calls in its turn, from the one that opens to the one that closes. */
#include "host.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take(void) { pthread_mutex_lock(&lock); }
static void give(void) { pthread_mutex_unlock(&lock); }

void tpsl_turns_start(void)
{
    pthread_atfork(take, give, give);
}

void tpsl_in_turn(tpsl_step *call, void *argument)
{
    TPSL_INSIDE;
    take();
    call(argument);
    give();
}
