/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rebind table, and the functions behind it: inside the loader.
 */
#ifndef TPSL_LIBC_H
#define TPSL_LIBC_H

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <threads.h>

#include "loader.h"

struct iovec;
struct sigaction;

/* ---- libc.c ---- */
enum tpsl_rebind_scope {
    TPSL_REBIND_PRIVATE = 1,
    TPSL_REBIND_ONCE = 2,
    TPSL_REBIND_PROCESS = 4, /* private, of instances that are processes of their own */
};
struct tpsl_rebinding {
    const char *name;
    void *function;
    int scope; /* which placements get it */
};
extern const struct tpsl_rebinding tpsl_rebindings[];
extern const size_t tpsl_nrebindings;
void *tpsl_rebound(const char *name, int scope); /* NULL: it is not */
char *tpsl_getenv(const char *);

/* ---- dl.c, instance_start.c, thread_create.c ---- */
int tpsl_dlclose(void *);
void *tpsl_dlsym(void *, const char *);
void *tpsl_dlvsym(void *, const char *, const char *);
int tpsl_dladdr(const void *, Dl_info *);
int tpsl_dladdr1(const void *, Dl_info *, void **, int);
int tpsl_dlinfo(void *, int, void *);
int tpsl_cxa_atexit(void (*)(void *), void *, void *);
void tpsl_cxa_finalize(void *);
tpsl_thread_create tpsl_pthread_create;
int tpsl_thrd_create(thrd_t *, thrd_start_t, void *);

/* ---- libc_keys.c: keys of thread-specific data ---- */
int tpsl_key_create(pthread_key_t *, void (*)(void *));
int tpsl_key_delete(pthread_key_t);
void tpsl_keys_end_instance(const struct tpsl_instance *);

/* ---- libc_signals.c: handlers of signals ---- */
typedef void tpsl_handler(int);
int tpsl_sigaction(int, const struct sigaction *, struct sigaction *);
tpsl_handler *tpsl_signal(int, tpsl_handler *);
_Noreturn void tpsl_longjmp(jmp_buf, int value);
void tpsl_signals_end_instance(struct tpsl_instance *);

/* ---- libc_mmap.c: shared segments ---- */
void *tpsl_mmap(void *, size_t, int, int, int, off_t);
int tpsl_munmap(void *, size_t);
void *tpsl_shmat(int, const void *, int);
int tpsl_shmdt(const void *);
void tpsl_segments_end_instance(struct tpsl_instance *);

/* ---- libc_locks.c: locks where the ranks of a process meet ---- */
void tpsl_mutex_lock(pthread_mutex_t *);
int tpsl_spin_lock(pthread_spinlock_t *);

/* ---- libc_process_vm.c: copies between processes ---- */
ssize_t tpsl_process_vm_readv(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);
ssize_t tpsl_process_vm_writev(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);
/* Says that copies may also go to another process, so that a kernel that refuses process_vm_* must be seen to refuse. */
void tpsl_set_process_peers(bool others);
/* Where a bad address in a copy of the calling thread leads; NULL: it copies nothing. */
extern __thread sigjmp_buf *volatile tpsl_copy_recovery __attribute__((tls_model("initial-exec")));

/* ---- copy_together.c: copies that several threads make ---- */
void tpsl_copy_bytes(char *to, const char *from, size_t); /* as memcpy, and maybe with other threads (tpsl_copies_share) */

/* ---- libc_fcntl.c, libc_umask.c, libc_memset.c ---- */
int tpsl_fcntl(int, int, ...);
mode_t tpsl_umask(mode_t);
void *tpsl_memset(void *, int, size_t);

#endif
