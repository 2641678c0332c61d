/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The end of a thread, and what may be called so late: inside the loader.
 */
#ifndef TPSL_THREAD_H
#define TPSL_THREAD_H

#include <signal.h>
#include <stdatomic.h>

struct tpsl_instance;

/* ---- thread_end.c ---- */
/* What is done at the end of a thread, in this order. */
enum tpsl_end_step {
    TPSL_END_LISTED,     /* in each round of destructors */
    TPSL_END_DLERROR,    /* before the last round: what comes from malloc */
    TPSL_END_STATIC_TLS, /* in the last round */
    TPSL_END_TLS,
    TPSL_END_STEPS
};
void tpsl_thread_end_step(enum tpsl_end_step, void (*function)(void)); /* from a constructor */
/* From now on the steps are done when the calling thread ends. */
void tpsl_thread_end_watch(void);

/* ---- thread_destructors.c: destructors of thread-local variables of C++ ---- */
int tpsl_cxa_thread_atexit(void (*)(void *), void *, void *);
void tpsl_call_thread_destructors(struct tpsl_instance *); /* of the calling thread's variables */

/* ---- signal_lock.c: for the end of a thread and for signal handlers; errno stays ---- */
void tpsl_lock(atomic_int *word, sigset_t *before); /* no signal comes until tpsl_unlock */
void tpsl_unlock(atomic_int *word, const sigset_t *before);
void tpsl_hold_signals(sigset_t *before); /* without a lock */
void tpsl_let_signals(const sigset_t *before);

#endif
