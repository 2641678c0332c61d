// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* libc has one time zone in the address space, that of TZ in its own environment. For a call that uses
 * the time zone, libc gets the zone of the calling rank. The same holds for the environment itself, for
 * the few functions of libc that read it. */
#include "host.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char system_zone[] = ":/etc/localtime"; /* tzset(3) */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take(void) { pthread_mutex_lock(&lock); }
static void give(void) { pthread_mutex_unlock(&lock); }

/* TZ is set from the start, so that libc's environment does not move in memory when TZ changes. */
void tpsl_zone_start(void)
{
    if (!getenv("TZ"))
        setenv("TZ", system_zone, 1);
    tzset();
    pthread_atfork(take, give, give);
}

void tpsl_in_zone(const char *zone, tpsl_step *call, void *argument)
{
    TPSL_INSIDE;
    if (!zone)
        zone = system_zone;
    take();
    if (strcmp(getenv("TZ"), zone) != 0) {
        setenv("TZ", zone, 1);
        tzset();
    }
    call(argument);
    give();
}

/* Others that look into libc's environment meanwhile find this one: both were the same when the job began. */
void tpsl_in_environment(char **of_rank, tpsl_step *call, void *argument)
{
    TPSL_INSIDE;
    take();
    char **before = environ;
    environ = of_rank;
    call(argument);
    environ = before;
    give();
}
