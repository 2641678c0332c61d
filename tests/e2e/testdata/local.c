// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* local: with LIBRARY, a library with a variable of each thread; else a program that listens whether the end of a thread
 * that used the variable is an unmapping to libucm. The argument is the library.
 */
#ifdef LIBRARY

char *local_start(void)
{
    static __thread char local[1 << 16];
    return local;
}

#else

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <tpsl.h>

/* As in ucm/api/ucm.h. */
enum { VM_UNMAPPED = 1 << 17 };
struct event {
    char *address;
    size_t size;
};
typedef void handler(int type, struct event *, void *arg);

static char *local;
static int heard;

static void unmapped(int type, struct event *e, void *arg)
{
    (void)type, (void)arg;
    if (e->address <= local && local < e->address + e->size)
        heard++;
}

static void *use(void *start)
{
    local = ((char *(*)(void))start)();
    *local = 1;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    MPI_Init(&argc, &argv);
    int (*set)(int, int, handler *, void *) = TPSL_Symbol(TPSL_Slot(), "ucm_set_event_handler");
    void (*unset)(int, handler *, void *) = TPSL_Symbol(TPSL_Slot(), "ucm_unset_event_handler");
    void *start = TPSL_Dlsym(TPSL_Dlopen(argv[1]), "local_start");
    if (!start || set(VM_UNMAPPED, 1000, unmapped, NULL) != 0)
        return 1;
    pthread_create(&thread, NULL, use, start);
    pthread_join(thread, NULL);
    unset(VM_UNMAPPED, unmapped, NULL);
    printf("heard %d times\n", heard);
    MPI_Finalize();
    return 0;
}

#endif
