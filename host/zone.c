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

/* TZ is set from the start, so that libc's environment does not move in memory when TZ changes. */
void tpsl_zone_start(void)
{
    if (!getenv("TZ"))
        setenv("TZ", system_zone, 1);
    tzset();
}

struct turn {
    const char *zone;
    char **environment;
    tpsl_step *call;
    void *argument;
};

static char **libcs; /* its own environment while it has that of a rank; else NULL */

static void give_back(void)
{
    if (libcs)
        environ = libcs;
    libcs = NULL;
}

static void with_zone(void *data)
{
    const struct turn *t = data;
    give_back(); /* in a child of fork, if another thread was in its turn */
    if (strcmp(getenv("TZ"), t->zone) != 0) {
        setenv("TZ", t->zone, 1);
        tzset();
    }
    t->call(t->argument);
}

void tpsl_in_zone(const char *zone, tpsl_step *call, void *argument)
{
    tpsl_in_turn_of(TPSL_TURN_ENVIRONMENT, with_zone, &(struct turn){.zone = zone ? zone : system_zone, .call = call, .argument = argument});
}

static void with_environment(void *data)
{
    const struct turn *t = data;
    give_back();
    libcs = environ;
    environ = t->environment;
    t->call(t->argument);
    give_back();
}

/* Others that look into libc's environment meanwhile find this one: both were the same when the job began. */
void tpsl_in_environment(char **of_rank, tpsl_step *call, void *argument)
{
    tpsl_in_turn_of(TPSL_TURN_ENVIRONMENT, with_environment, &(struct turn){.environment = of_rank, .call = call, .argument = argument});
}
