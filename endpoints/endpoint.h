/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Endpoints: slot + rank + instance, and which thread owns it.
 *
 *          claim            bind              thread ends
 *   FREE --------> CLAIMED --------> BOUND ----------------> ENDED
 *                                      ^                        |
 *                                      +------------------------+
 *                                              adopt
 *
 * `state` is the only word that threads race for: claim and adopt are one
 * compare-and-swap of it each, and whoever wins writes the other fields. They are read
 * by others only after they have seen BOUND or ENDED (acquire).
 */
#ifndef TPSL_ENDPOINT_H
#define TPSL_ENDPOINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum tpsl_state {
    TPSL_FREE,    /* no thread has asked for the slot */
    TPSL_CLAIMED, /* a thread is bringing its instance up */
    TPSL_BOUND,   /* a live thread owns it */
    TPSL_ENDED,   /* its thread has ended; another may adopt it */
};

struct tpsl_job;
struct tpsl_progress;

/* Which thread is inside which call of the rank, under TPSL_CHECK=1. */
struct tpsl_occupancy {
    _Atomic uint64_t inside; /* the thread in the upper half, the stub in the lower one; 0: nobody */
    atomic_bool multiple;    /* the rank has MPI_THREAD_MULTIPLE */
};

/* How far MPI is on an endpoint: moves forward only. */
enum tpsl_phase { TPSL_NEW, TPSL_INITIALIZED, TPSL_FINALIZED };

struct tpsl_endpoint {
    _Atomic int state; /* enum tpsl_state */
    _Atomic int phase; /* enum tpsl_phase */
    int slot;
    int rank; /* in the world of the job */
    _Atomic int thread; /* the kernel's id of its owner, or of the last one; 0: none yet */
    struct tpsl_job *job; /* that it is a rank of (process/process.h) */
    void *instance;
    void *copies; /* of the program's private libraries; NULL: there are none */
    void **table; /* address of every MPI function in the instance, by stub index */
    struct tpsl_progress *progress; /* of tpsl/progress.c; NULL: neighbours do not help */
    struct tpsl_occupancy occupancy; /* of tpsl/check.c */
    void *collectives; /* of tpsl/collectives.c; NULL: the MPI library serves all */
} __attribute__((aligned(64)));

/* The endpoints of a job, by slot. */
struct tpsl_endpoints {
    struct tpsl_endpoints *older; /* of another job of the process */
    int count;
    struct tpsl_endpoint at[];
};

/* The endpoint that the calling thread acts for; NULL: it is unbound. */
extern __thread struct tpsl_endpoint *tpsl_self __attribute__((tls_model("initial-exec")));

/* Makes n free endpoints of a job, with the given world ranks. NULL: no memory. */
struct tpsl_endpoints *tpsl_endpoints_make(int n, const int *ranks);
/* Preconditions: no thread owns one of them or acts for one. */
void tpsl_endpoints_free(struct tpsl_endpoints *);
struct tpsl_endpoint *tpsl_endpoint_at(struct tpsl_endpoints *, int slot); /* NULL: out of range */

/* FREE -> CLAIMED. False: another thread was first. */
bool tpsl_endpoint_claim(struct tpsl_endpoint *);
/* Claims the lowest free slot; NULL: none is free. */
struct tpsl_endpoint *tpsl_endpoint_claim_lowest(struct tpsl_endpoints *);
/* CLAIMED -> BOUND: the calling thread owns it and acts for it. */
void tpsl_endpoint_bind(struct tpsl_endpoint *);
/* ENDED -> BOUND by the calling thread. Waits up to `milliseconds` for an owner
 * that is just ending. False: the owner lives on. */
bool tpsl_endpoint_adopt(struct tpsl_endpoint *, int milliseconds);
/* The owner gives it up, and acts for none: BOUND -> ENDED. */
void tpsl_endpoint_leave(struct tpsl_endpoint *);
/* The endpoint that the calling thread owns, whatever it acts for; NULL: none. */
struct tpsl_endpoint *tpsl_endpoint_owned(void);
/* Makes the calling thread act for another endpoint without owning it; NULL: for
 * none. Returns the one it acted for. */
struct tpsl_endpoint *tpsl_endpoint_switch(struct tpsl_endpoint *);

#endif
