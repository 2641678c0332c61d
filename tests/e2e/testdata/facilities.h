// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions of libc that take a lock of the address space, by what they are for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <libintl.h>
#include <link.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

static void nothing(void) {}
static void use_atexit(void) { atexit(nothing); }

static void use_setenv(void)
{
    setenv("TZ", "Europe/Lisbon", 1);
    unsetenv("TZ");
}

static void use_time(void)
{
    char text[64];
    time_t now = time(NULL);
    struct tm tm;
    localtime_r(&now, &tm);
    gmtime_r(&now, &tm);
    strftime(text, sizeof text, "%Z %s", &tm);
    mktime(&tm);
}

static void use_random(void) { srandom((unsigned)random()); }

locale_t __duplocale(locale_t); /* as libstdc++ calls it */

static void use_locale(void)
{
    locale_t l = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    freelocale(duplocale(l));
    freelocale(__duplocale(l));
    freelocale(l);
    setlocale(LC_ALL, "C");
}

static void use_symbols(void)
{
    if (!dlsym(RTLD_DEFAULT, "malloc"))
        abort();
}

static int none(struct dl_phdr_info *info, size_t size, void *unused) { return 0; }
static void use_dlopen(void)
{
    static const char *const names[] = {"libz.so.1", "libresolv.so.2", "libm.so.6"};
    static unsigned turn;
    void *h = dlopen(names[turn++ % 3], RTLD_NOW);
    if (h)
        dlclose(h);
}

static void use_objects(void) { dl_iterate_phdr(none, NULL); }

static void use_iconv(void)
{
    iconv_t c = iconv_open("UTF-16", "ISO-8859-15");
    if (c != (iconv_t)-1)
        iconv_close(c);
}

static void use_messages(void)
{
    bindtextdomain("nothing", "/nowhere");
    dgettext("nothing", "text");
    strerror(ENOENT);
}

static void use_addresses(void)
{
    struct addrinfo *list, hints = {.ai_flags = AI_NUMERICHOST};
    if (getaddrinfo("127.0.0.1", "80", &hints, &list) == 0)
        freeaddrinfo(list);
}

static void use_log(void)
{
    openlog("forks", 0, LOG_USER);
    syslog(LOG_DEBUG, "nothing");
    closelog();
}

static void use_names(void)
{
    getprotobyname("tcp");
    getpwnam("root");
}

static void use_malloc(void) { free(strdup("text")); }

static void use_stdio(void)
{
    FILE *f = fopen("/dev/null", "w");
    if (f) {
        fprintf(f, "%d\n", 1);
        fclose(f);
    }
}

static void *run(void *x) { return x; }

static void use_threads(void)
{
    pthread_t t;
    if (pthread_create(&t, NULL, run, NULL) == 0)
        pthread_join(t, NULL);
}

#ifdef WITH_SEMAPHORES /* which a rank that is killed leaves behind */
static void use_semaphore(void)
{
    char name[32];
    snprintf(name, sizeof name, "/tpsl-forks-%d", getpid());
    sem_t *s = sem_open(name, O_CREAT, 0600, 1);
    sem_unlink(name);
    if (s != SEM_FAILED)
        sem_close(s);
}
#endif

static const struct {
    const char *name;
    void (*use)(void);
} facilities[] = {
    {"atexit", use_atexit},     {"setenv", use_setenv},       {"time", use_time},       {"random", use_random},   {"locale", use_locale},
    {"dlsym", use_symbols},     {"objects", use_objects},     {"iconv", use_iconv},     {"messages", use_messages}, {"getaddrinfo", use_addresses},
    {"syslog", use_log},        {"names", use_names},         {"malloc", use_malloc},   {"stdio", use_stdio},     {"threads", use_threads},
#ifdef WITH_SEMAPHORES
    {"semaphore", use_semaphore},
#endif
    {"dlopen", use_dlopen},
};
enum { FACILITIES = sizeof facilities / sizeof *facilities };
