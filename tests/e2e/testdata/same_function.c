// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A function has one address, whoever asks for it and how. */
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void *libc;
static int other;

static void look(const char *name, void *function)
{
    struct {
        const char *how;
        void *found;
    } ways[] = {
        {"RTLD_DEFAULT", dlsym(RTLD_DEFAULT, name)},
        {"RTLD_NEXT", dlsym(RTLD_NEXT, name)},
        {"the program", dlsym(dlopen(NULL, RTLD_NOW), name)},
        {"libc", dlsym(libc, name)},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].found != function) {
            printf("%s by %s is another: %p, %p\n", name, ways[i].how, ways[i].found, function);
            other++;
        }
}

#define LOOK(name) look(#name, (void *)name)

int main(void)
{
    libc = dlopen("libc.so.6", RTLD_NOW);
    LOOK(exit);
    LOOK(fopen);
    LOOK(puts);
    LOOK(printf);
    LOOK(fflush);
    LOOK(getenv);
    LOOK(setenv);
    LOOK(system);
    LOOK(popen);
    LOOK(execv);
    LOOK(setlocale);
    LOOK(localtime);
    LOOK(strtok);
    LOOK(rand);
    LOOK(readlink);
    LOOK(pthread_create);
    LOOK(pthread_exit);
    LOOK(mmap);
    LOOK(munmap);
    LOOK(shmat);
    LOOK(dlopen);
    LOOK(dlsym);
    LOOK(dlerror);
    LOOK(dladdr);
    LOOK(malloc);
    LOOK(free);
    LOOK(memcpy);
    LOOK(strlen);
    LOOK(open);
    LOOK(sigaction);
    LOOK(umask);
    void (*close_all)(int) = (void (*)(int))dlsym(libc, "exit");
    int (*print)(const char *, ...) = (int (*)(const char *, ...))dlsym(libc, "printf");
    print("%d others\n", other); /* in the stream that exit flushes */
    close_all(3);
}
