// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A library that has something of everything that must go when it is closed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread int dynamic __attribute__((tls_model("global-dynamic"))) = 3;
static __thread int fixed __attribute__((tls_model("initial-exec"))) = 4;
static char *held;

static void free_held(void) { free(held); }
static void heard(int number) { _exit(number); }
static void *in_thread(void *unused)
{
    dynamic++;
    fixed++;
    return unused;
}

int work(const char *plugin, int fd)
{
    pthread_t t;
    held = malloc(4096);
    atexit(free_held);
    signal(SIGUSR2, heard);
    if (pthread_create(&t, NULL, in_thread, NULL) != 0 || pthread_join(t, NULL) != 0 || !dlopen(plugin, RTLD_NOW))
        return -1;
    if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
        return -2;
    return ++dynamic * 10 + ++fixed;
}

/* As many objects as a debugger finds in all namespaces, -1: the list is broken. */
int seen_by_debugger(const char *name)
{
    const struct link_map *program = dlopen(NULL, RTLD_LAZY);
    const struct r_debug_extended *r = NULL;
    int n = 0;
    for (const ElfW(Dyn) *d = program->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_DEBUG)
            r = (const void *)d->d_un.d_ptr;
    for (; r; r = r->base.r_version >= 2 ? r->r_next : NULL)
        for (const struct link_map *m = r->base.r_map, *before = NULL; m; before = m, m = m->l_next) {
            if (m->l_prev != before || r->base.r_state != RT_CONSISTENT)
                return -1;
            n += strstr(m->l_name, name) != NULL;
        }
    return n;
}

static const char *wanted;
static int visit(struct dl_phdr_info *info, size_t size, void *n)
{
    *(int *)n += info->dlpi_phnum > 0 && strstr(info->dlpi_name, wanted) != NULL;
    return 0;
}
int walked(int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *), const char *name)
{
    int n = 0;
    wanted = name;
    iterate(visit, &n);
    return n;
}
