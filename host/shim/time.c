// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Local time, by the rank's own TZ, and time broken down in the rank's own buffers. */
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "shim.h"

char *__tzname[2] = {(char *)"GMT", (char *)"GMT"};
long __timezone;
int __daylight;
extern char *tzname[2] __attribute__((weak, alias("__tzname")));
extern long timezone __attribute__((weak, alias("__timezone")));
extern int daylight __attribute__((weak, alias("__daylight")));

static struct tm broken_down;
static char text[64];

/* The values of libc's variables for the zone that was set last. */
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

struct written {
    const char *text;
    struct tm *tm;
    int error;
};

static void read_written(void *data)
{
    struct written *w = data;
    w->error = BEHIND(getdate_r)(w->text, w->tm);
    note_zone();
}

struct format {
    char *text;
    size_t size, length;
    const char *format;
    const struct tm *tm;
    locale_t locale; /* 0 means that of the thread */
};

static void make_text(void *data)
{
    struct format *f = data;
    f->length = f->locale ? BEHIND(strftime_l)(f->text, f->size, f->format, f->tm, f->locale) : BEHIND(strftime)(f->text, f->size, f->format, f->tm);
    note_zone();
}

static void make_wide_text(void *data)
{
    struct format *f = data;
    wchar_t *text = (wchar_t *)f->text;
    const wchar_t *format = (const wchar_t *)f->format;
    f->length = f->locale ? BEHIND(wcsftime_l)(text, f->size, format, f->tm, f->locale) : BEHIND(wcsftime)(text, f->size, format, f->tm);
    note_zone();
}

size_t strftime_l(char *restrict text, size_t size, const char *restrict format, const struct tm *restrict tm, locale_t locale)
{
    struct format f = {text, size, 0, format, tm, locale};
    tpsl_in_zone(getenv("TZ"), make_text, &f);
    return f.length;
}

size_t wcsftime_l(wchar_t *restrict text, size_t size, const wchar_t *restrict format, const struct tm *restrict tm, locale_t locale)
{
    struct format f = {(char *)text, size, 0, (const char *)format, tm, locale};
    tpsl_in_zone(getenv("TZ"), make_wide_text, &f);
    return f.length;
}

extern __typeof__(strftime_l) __strftime_l ALSO(strftime_l);
extern __typeof__(wcsftime_l) __wcsftime_l ALSO(wcsftime_l);

size_t strftime(char *restrict text, size_t size, const char *restrict format, const struct tm *restrict tm)
{
    return strftime_l(text, size, format, tm, (locale_t)0);
}

size_t wcsftime(wchar_t *restrict text, size_t size, const wchar_t *restrict format, const struct tm *restrict tm)
{
    return wcsftime_l(text, size, format, tm, (locale_t)0);
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

int getdate_r(const char *restrict text, struct tm *restrict tm)
{
    struct written w = {text, tm, 0};
    tpsl_in_zone(getenv("TZ"), read_written, &w);
    return w.error;
}

struct parsed {
    const char *text, *format;
    struct tm *tm;
    locale_t locale; /* 0 means that of the thread */
    char *end;
};

static void parse(void *data)
{
    struct parsed *p = data;
    p->end = p->locale ? BEHIND(strptime_l)(p->text, p->format, p->tm, p->locale) : BEHIND(strptime)(p->text, p->format, p->tm);
}

char *strptime_l(const char *restrict text, const char *restrict format, struct tm *restrict tm, locale_t locale)
{
    struct parsed p = {text, format, tm, locale, NULL};
    if (strstr(format, "%s")) { /* seconds since 1970, which become local time */
        tpsl_in_zone(getenv("TZ"), parse, &p);
    } else {
        TPSL_INSIDE;
        parse(&p);
    }
    return p.end;
}

char *strptime(const char *restrict text, const char *restrict format, struct tm *restrict tm)
{
    return strptime_l(text, format, tm, (locale_t)0);
}

int getdate_err;

struct tm *getdate(const char *text)
{
    static struct tm tm;
    getdate_err = getdate_r(text, &tm);
    return getdate_err == 0 ? &tm : NULL;
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
