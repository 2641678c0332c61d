// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Local time, by the rank's own TZ, and time broken down in the rank's own buffers. */
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "shim.h"

char *__tzname[2] = {(char *)"GMT", (char *)"GMT"};
long __timezone;
int __daylight;
extern char *tzname[2] __attribute__((weak, alias("__tzname")));
extern long timezone __attribute__((weak, alias("__timezone")));
extern int daylight __attribute__((weak, alias("__daylight")));

static struct tm broken_down;
static char text[64];

/* What libc has in its variables for the zone that it has just been given. */
static void note_zone(void)
{
    static char *const *names;
    static const long *west;
    static const int *summer;
    if (!names) {
        west = dlsym(RTLD_NEXT, "timezone");
        summer = dlsym(RTLD_NEXT, "daylight");
        names = dlsym(RTLD_NEXT, "tzname");
    }
    __tzname[0] = names[0];
    __tzname[1] = names[1];
    __timezone = *west;
    __daylight = *summer;
}

struct local {
    const time_t *time;
    struct tm *tm;
    time_t made;
    bool done;
};

static void set_zone(void *unused)
{
    note_zone();
}

static void break_down(void *data)
{
    struct local *l = data;
    l->done = BEHIND(localtime_r)(l->time, l->tm);
    note_zone();
}

static void make(void *data)
{
    struct local *l = data;
    l->made = BEHIND(mktime)(l->tm);
    note_zone();
}

void tzset(void)
{
    tpsl_in_zone(getenv("TZ"), set_zone, NULL);
}

struct tm *localtime_r(const time_t *restrict t, struct tm *restrict result)
{
    struct local l = {.time = t, .tm = result};
    tpsl_in_zone(getenv("TZ"), break_down, &l);
    return l.done ? result : NULL;
}

time_t mktime(struct tm *tm)
{
    struct local l = {.tm = tm};
    tpsl_in_zone(getenv("TZ"), make, &l);
    return l.made;
}

time_t timelocal(struct tm *tm) { return mktime(tm); }
struct tm *gmtime(const time_t *t) { return gmtime_r(t, &broken_down); }
struct tm *localtime(const time_t *t) { return localtime_r(t, &broken_down); }
char *asctime(const struct tm *t) { return asctime_r(t, text); }

char *ctime_r(const time_t *t, char *result)
{
    struct tm tm;
    return localtime_r(t, &tm) ? asctime_r(&tm, result) : NULL;
}

char *ctime(const time_t *t) { return ctime_r(t, text); }
