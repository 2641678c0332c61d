// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions of libc that take a lock of the address space, by what they are for. */
#define _GNU_SOURCE
#include <aliases.h>
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <grp.h>
#include <iconv.h>
#include <libintl.h>
#include <link.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>
#include <printf.h>
#include <pwd.h>
#include <regex.h>
#include <resolv.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <utmpx.h>
#include <wchar.h>

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

static void use_entries(void)
{
    char text[4096];
    struct passwd user, *found;
    struct group group, *group_found;
    getpwent_r(&user, text, sizeof text, &found);
    getgrent_r(&group, text, sizeof text, &group_found);
    getaliasbyname("root");
    endpwent();
    endgrent();
}

static void use_netgroups(void)
{
    char *host, *user, *domain;
    setnetgrent("nothing");
    getnetgrent(&host, &user, &domain);
    endnetgrent();
}

static void use_sessions(void)
{
    struct utmpx boot = {.ut_type = BOOT_TIME};
    setutxent();
    getutxid(&boot);
    endutxent();
}

static void use_passwords(void)
{
    FILE *f = fopen("/etc/passwd", "r");
    if (f) {
        fgetpwent(f);
        fclose(f);
    }
}

static void use_resolver(void)
{
    struct __res_state state = {0};
    if (res_ninit(&state) == 0)
        res_nclose(&state);
}

/* The locks that reading a message takes are waited for by who changes how messages are read. */
static void change_messages(void)
{
    setlocale(LC_MESSAGES, "C");
    textdomain("nothing");
}

static void use_errno(void)
{
    char text[64];
    errno = ENOENT;
    snprintf(text, sizeof text, "%-40m");
    change_messages();
}

static void use_wide_errno(void)
{
    wchar_t text[64];
    errno = ENOENT;
    swprintf(text, 64, L"%m");
    change_messages();
}

static void use_descriptions(void)
{
    char text[64];
    regex_t wrong;
    regerror(regcomp(&wrong, "(", REG_EXTENDED), NULL, text, sizeof text);
    gai_strerror(EAI_NONAME);
    hstrerror(HOST_NOT_FOUND);
    change_messages();
}

static void use_wide_streams(void)
{
    FILE *f = fopen("/dev/null", "w");
    if (f) {
        fputwc(L'a', f);
        fclose(f);
    }
}

static void use_wide_texts(void)
{
    wchar_t text[16];
    int n;
    swprintf(text, 16, L"%d", 1);
    swscanf(text, L"%d", &n);
}

static void use_coded_streams(void)
{
    FILE *f = fopen("/dev/null", "r,ccs=ISO-8859-15");
    if (f)
        fclose(f);
}

static void use_conversions(void)
{
    wchar_t text[16];
    locale_t l = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0), before = uselocale(l);
    mbstowcs(text, "text", 16);
    uselocale(before);
    freelocale(l);
}

static void use_frames(void)
{
    void *frames[8], *map;
    Dl_info info;
    for (int i = 0; i < 8; i++)
        frames[i] = (void *)(unsigned long)puts;
    free(backtrace_symbols(frames, 8));
    dladdr1((void *)(unsigned long)puts, &info, &map, RTLD_DL_LINKMAP);
}

static void use_printf_letters(void) { register_printf_specifier('Y', NULL, NULL); }

static void use_attributes(void)
{
    pthread_attr_t a;
    if (pthread_getattr_default_np(&a) == 0)
        pthread_attr_destroy(&a);
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
    {"entries", use_entries},   {"netgroups", use_netgroups}, {"sessions", use_sessions}, {"passwords", use_passwords}, {"resolver", use_resolver},
    {"%m", use_errno},          {"wide %m", use_wide_errno},  {"descriptions", use_descriptions}, {"frames", use_frames}, {"attributes", use_attributes},
    {"wide streams", use_wide_streams}, {"wide texts", use_wide_texts}, {"ccs=", use_coded_streams}, {"conversions", use_conversions},
    {"printf letters", use_printf_letters},
#ifdef WITH_SEMAPHORES
    {"semaphore", use_semaphore},
#endif
    {"dlopen", use_dlopen},
};
enum { FACILITIES = sizeof facilities / sizeof *facilities };
