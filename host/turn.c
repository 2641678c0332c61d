// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* libc has some descriptors open from one call to the next, as getpwent has. The number is libc's, once for all ranks; the
 * descriptor belongs to the rank that made the first call. In another rank the number means another file, or none. So a rank
 * makes all calls in its turn, from the one that opens to the one that closes. Turns with libc's environment (zone.c) have a lock of
 * their own, as those with descriptors may last long. */
#include "host.h"

#include <pthread.h>

static pthread_mutex_t locks[TPSL_TURNS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static __thread bool mine[TPSL_TURNS] __attribute__((tls_model("initial-exec")));

/* fork has waited for the others, as for all that are behind the gate. */
void tpsl_turn_of_child(void)
{
    for (int i = 0; i < TPSL_TURNS; i++)
        if (!mine[i]) /* else a handler has forked in the midst, and the turn goes on */
            pthread_mutex_init(&locks[i], NULL);
}

/* A thread that is cancelled in its turn would keep it. */
void tpsl_in_turn_of(enum tpsl_turn turn, tpsl_step *call, void *argument)
{
    TPSL_INSIDE;
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&locks[turn]);
    mine[turn] = true;
    call(argument);
    mine[turn] = false;
    pthread_mutex_unlock(&locks[turn]);
    pthread_setcancelstate(before, NULL);
}

void tpsl_in_turn(tpsl_step *call, void *argument)
{
    tpsl_in_turn_of(TPSL_TURN_DESCRIPTORS, call, argument);
}
