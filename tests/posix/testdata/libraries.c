// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Libraries that a program opens, and functions that it puts in front of libc's. */
#include "posix.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

int exported = 5;
int exported_function(void) { return 6; }

/* In front of libc's: all libraries of the program call this one. */
static int opened;
int open(const char *path, int flags, ...)
{
    static int (*next)(const char *, int, ...);
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    if (!next)
        next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    opened++;
    return next(path, flags, mode);
}

static void itself(void)
{
    void *self = dlopen(NULL, RTLD_NOW);
    int *variable = dlsym(self, "exported");
    int (*function)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "exported_function");
    Dl_info info;
    SAY("%d %d", *variable, function());
    SAY("%d", dladdr((void *)exported_function, &info) != 0);
    SAY("%s %d", info.dli_sname, info.dli_saddr == (void *)exported_function);
    SAY("%s", strrchr(info.dli_fname, '/'));
    *variable = rank;
    SAY("%d", exported);
    SAY("%d", dlsym(self, "no_such_symbol") == NULL);
    const char *error = dlerror();
    SAY("%d", strstr(error, "undefined symbol: no_such_symbol") != NULL);
    SAY("%d", dlerror() == NULL);
}

static void others(void)
{
    void *m = dlopen("libm.so.6", RTLD_LAZY), *again = dlopen("libm.so.6", RTLD_LAZY);
    double (*cosine)(double) = (double (*)(double))dlsym(m, "cos");
    SAY("%d %.1f", m == again, cosine(0));
    SAY("%d %d", dlclose(again), dlclose(m));
    void *crypt = dlopen("libcrypt.so.1", RTLD_NOW | RTLD_LOCAL);
    SAY("%d %d", crypt != NULL, crypt && dlsym(crypt, "crypt") != NULL);
    SAY("%d", dlsym(RTLD_DEFAULT, "crypt_gensalt") == NULL);
    SAY("%d", dlopen("libcrypt.so.1", RTLD_NOLOAD | RTLD_LAZY) == crypt);
    SAY("%d", dlopen("libno-such-library.so", RTLD_NOW) == NULL);
    SAY("%d", strstr(dlerror(), "libno-such-library.so") != NULL);
    struct link_map *map = NULL;
    OK(dlinfo(crypt, RTLD_DI_LINKMAP, &map));
    SAY("%d", strstr(map->l_name, "libcrypt") != NULL);
}

/* By many threads at once. */
static void *open_and_close(void *name)
{
    long found = 0;
    for (int i = 0; i < 50; i++) {
        void *h = dlopen(name, RTLD_NOW);
        found += h && dlsym(h, "crypt");
        dlclose(h);
    }
    return (void *)found;
}

static void at_once(void)
{
    pthread_t threads[4];
    void *found;
    for (int i = 0; i < 4; i++)
        OK(pthread_create(&threads[i], NULL, open_and_close, "libcrypt.so.1"));
    for (int i = 0; i < 4; i++) {
        OK(pthread_join(threads[i], &found));
        SAY("%ld", (long)found);
    }
}

static void in_front(void)
{
    int before = opened;
    close(open("/dev/null", 0));
    SAY("%d", opened - before);
    int (*behind)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    SAY("%d %d", behind != NULL, (void *)behind != (void *)open);
    SAY("%d", dlsym(RTLD_DEFAULT, "open") == (void *)open);
}

static int see(struct dl_phdr_info *info, size_t size, void *seen)
{
    const char *name = strrchr(info->dlpi_name, '/');
    if (name && (strncmp(name, "/libc.so", 8) == 0 || strncmp(name, "/libm.so", 8) == 0))
        ++*(int *)seen;
    return 0;
}

static __attribute__((noinline)) int frames(int depth)
{
    void *all[64];
    if (depth > 0)
        return frames(depth - 1) + 1 - 1;
    int n = backtrace(all, 64), mine = 0;
    for (int i = 0; i < n; i++) {
        Dl_info info;
        mine += dladdr(all[i], &info) && strstr(info.dli_fname, "libraries");
    }
    return mine;
}

static void walks(void)
{
    int seen = 0;
    dl_iterate_phdr(see, &seen);
    SAY("%d", seen > 0);
    SAY("%d", frames(5) >= 3);
}

/* Libraries in memory, each of which is known by a descriptor only. */
static void by_descriptor(void)
{
    static const char *const names[] = {"/proc/self/fd/%d", "/proc/thread-self/fd/%d", "/dev/fd/%d"};
    struct link_map *crypt, *copy;
    char name[64];
    OK(dlinfo(dlopen("libcrypt.so.1", RTLD_NOW | RTLD_LOCAL), RTLD_DI_LINKMAP, &crypt));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stat file;
        int from = open(crypt->l_name, O_RDONLY), memory = memfd_create("library", 0);
        OK(fstat(from, &file));
        OK(sendfile(memory, from, NULL, (size_t)file.st_size) != file.st_size);
        snprintf(name, sizeof name, names[i], memory);
        void *h = dlopen(name, RTLD_NOW | RTLD_LOCAL), *again = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        SAY("%s %d %d", h ? "opened" : dlerror(), h == again, h && dlsym(h, "crypt") != dlsym(crypt, "crypt"));
        SAY("%d %d", dlinfo(h, RTLD_DI_LINKMAP, &copy), copy != crypt);
    }
    SAY("%d %d", dlopen("/proc/self/fd/1000", RTLD_NOW) == NULL, dlerror() != NULL);
}

const struct program programs[] = {
    PROGRAM(itself), PROGRAM(others), PROGRAM(at_once), PROGRAM(in_front), PROGRAM(walks), PROGRAM(by_descriptor), {NULL, NULL},
};
