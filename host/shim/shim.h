/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The private shim: what libc keeps once per address space and each rank must have to
 * itself. Every instance of a program has a copy of this library, in front of libc in
 * the order of lookup, so plain static variables are a rank's own. The real functions
 * are behind it.
 */
#ifndef TPSL_SHIM_H
#define TPSL_SHIM_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* The function of that name behind the shim: libc's. Looked up once, as that takes ld.so's lock. */
#define BEHIND(function)                                                        \
    __extension__({                                                             \
        static __typeof__(&function) _Atomic found;                             \
        __typeof__(&function) behind = found;                                   \
        if (!behind)                                                            \
            found = behind = (__typeof__(behind))dlsym(RTLD_NEXT, #function);   \
        behind;                                                                 \
    })

/* A function with arguments like printf's, by the one that has them as a va_list. */
#define VARIADIC(name, parameters, call)  \
    int name parameters                   \
    {                                     \
        va_list arguments;                \
        va_start(arguments, format);      \
        int result = call;                \
        va_end(arguments);                \
        return result;                    \
    }

/* Another name of a function, by which some objects know it: libstdc++ calls __newlocale. */
#define ALSO(name) __attribute__((alias(#name), copy(name)))

/* Another name of a function that <stdio.h> or <wchar.h> calls by different names in some versions of C. */
#define SAME(name, as) __asm__(".globl " #name "\n.type " #name ", @function\n.set " #name ", " #as)

extern char **environ;

/* ---- of libtpslhost (host.h) ---- */
void tpsl_rank_finish(void); /* the rank's atexit list and destructors */
const char *tpsl_program(void);
bool tpsl_runs_program(pid_t);
void tpsl_in_zone(const char *zone, void (*call)(void *), void *argument);
void tpsl_in_environment(char **of_rank, void (*call)(void *), void *argument);
void tpsl_in_turn(void (*call)(void *), void *argument);
void tpsl_at_thread_end(void (*call)(void)); /* when the calling thread ends, once */
pid_t tpsl_fork(pid_t (*without_locks)(void));
void tpsl_rank_rest(void); /* before the rank ends: its other threads stop outside libc */
void tpsl_rank_go_on(void);
int tpsl_threads(void);        /* of the rank; 0: unknown */
int tpsl_kernel_threads(void); /* those of them that belong to the kernel, as io_uring(7) has some */

/* ---- of libtpslhost (gate.c of the loader): until the end of the block the thread is inside libc's locks ---- */
struct tpsl_instance *tpsl_gate_enter(void);
void tpsl_gate_leave(struct tpsl_instance **);
#define TPSL_INSIDE TPSL_INSIDE_IF(1)
#define TPSL_INSIDE_IF(condition) \
    __attribute__((cleanup(tpsl_gate_leave), unused)) struct tpsl_instance *tpsl_inside = (condition) ? tpsl_gate_enter() : NULL

/* ---- exit.c, keys.c: what the calling thread does at its end ---- */
void tpsl_thread_locals_end(void); /* destructors of C++ objects */
void tpsl_keys_end(void);

/* ---- children.c ---- */
pid_t tpsl_piped_end(FILE *stream); /* the child of a stream of popen, which ends with it; 0: it is no such stream */
int tpsl_wait_for(pid_t pid);       /* the child's wait status; -1: there is none */
void tpsl_children_of_child(void);  /* in a child of fork, before anything else: the lock may be another thread's, which is not there */

/* ---- first_thread.c ---- */
_Noreturn void tpsl_first_thread(int (*main)(int, char **, char **), int argc, char **argv); /* and exit */

/* ---- exe.c ---- */
/* The file that a path means to the program. For handlers of signals and children of vfork, too. */
const char *tpsl_meant(const char *path);

/* ---- syscall.c ---- */
long (*tpsl_kernel(void))(long number, ...); /* libc's syscall */

/* ---- streams.c ---- */
void tpsl_streams_open(void); /* the standard ones */
void tpsl_streams_flush(void);
void tpsl_streams_hold(void);     /* for fork: so no other thread is changing the list, or in fflush(NULL) */
void tpsl_streams_release(void);  /* in the parent */
void tpsl_streams_of_child(void); /* as tpsl_children_of_child */
FILE *tpsl_stream_add(FILE *);
void tpsl_stream_remove(FILE *);
void tpsl_stream_unlock(void *stream); /* for pthread_cleanup_push: a thread may be cancelled as it reads or writes */

#endif
