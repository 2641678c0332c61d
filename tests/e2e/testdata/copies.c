/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * copies: with LIBRARY, a library that is right with one thread at a time; with PLUGIN, one that it opens; else a
 * program whose threads use a copy each.
 */
#include <stdio.h>
#include <stdlib.h>

#if defined PLUGIN

extern int state __attribute__((weak)); /* of the copy that opened us */
int plugin(void)
{
    return &state ? state : -1;
}

#elif defined LIBRARY

#include <dlfcn.h>
#include <pthread.h>

int state;
#ifdef STATIC_TLS
static __thread int local __attribute__((tls_model("initial-exec")));
#else
static __thread int local;
#endif

static void ended(void)
{
    printf("ended at %d\n", state);
    fflush(stdout);
}

__attribute__((constructor)) static void started(void)
{
    atexit(ended);
}

/* Wrong when two threads do it at once. */
int count(int to)
{
    while (state < to) {
        volatile int was = state;
        state = was + 1;
        local++;
    }
    return local;
}

static void *in_thread(void *path)
{
    void *h = dlopen(path, RTLD_NOW);
    int (*plugin)(void) = h ? (int (*)(void))dlsym(h, "plugin") : NULL;
    return plugin && plugin() == state ? path : NULL;
}

/* Code of the copy is what asks for a plugin, on any thread. */
int plugins_are_ours(const char *path)
{
    pthread_t t;
    void *right = NULL;
    return in_thread((void *)path) && pthread_create(&t, NULL, in_thread, (void *)path) == 0 && pthread_join(t, &right) == 0 && right;
}

#else

#include <string.h>
#include <tpsl.h>

enum { COPIES = 8, COUNT = 100000 };

static const char *library, *plugin;
static int right;

static void use(void *copy, int n)
{
    int (*count)(int) = (int (*)(int))TPSL_Dlsym(copy, "count");
    int (*ours)(const char *) = (int (*)(const char *))TPSL_Dlsym(copy, "plugins_are_ours");
    if (count && ours && count(COUNT + n) == COUNT + n && ours(plugin))
#pragma omp atomic
        right++;
}

static void say(const char *what, int failed)
{
    const char *error = TPSL_Dlerror();
    printf("%s %s: %s\n", what, failed ? "refused" : "done", error ? error : "-");
}

int main(int argc, char **argv)
{
    void *copies[COPIES], *none;
    library = argv[1];
    plugin = argv[2];
    if (argc > 3) { /* refusals */
        say("open", !TPSL_Dlopen(argv[3]));
        say("open", !TPSL_Dlopen("libnosuch.so.7"));
        return 0;
    }
#pragma omp parallel for num_threads(COPIES)
    for (int i = 0; i < COPIES; i++)
        if ((copies[i] = TPSL_Dlopen(library)))
            use(copies[i], i);
    printf("right: %d\n", right);
    none = TPSL_Dlsym(copies[0], "nothing");
    say("nothing", !none);
    fflush(stdout);
    for (int i = 1; i < COPIES; i++)
        if (TPSL_Dlclose(copies[i]) != 0)
            return 1;
    say("closed", TPSL_Dlclose(copies[1]) == -1);
    say("symbol", !TPSL_Dlsym(copies[1], "count"));
    say("nothing more", 0);
    fflush(stdout);
    for (int i = 0; i < 1000; i++) {
        void *copy = TPSL_Dlopen(argv[2]);
        if (!copy || TPSL_Dlclose(copy) != 0)
            return 2;
    }
    return 0; /* and the first copy ends with us */
}

#endif
