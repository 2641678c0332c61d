/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * tpslmsg.h: messages between very many threads, without an MPI library. Link with -ltpslmsg.
 *
 * A job is the processes that a launcher has started together, or one process alone. It has
 * ports, numbered from 0 by their ranks. A process has some of them. A port sends messages to
 * any port and receives from it, and reads and writes memory that another port has registered.
 *
 * Calls take batches, because the way into the library costs as much as a message:
 * tpslmsg_post starts many operations, tpslmsg_reap takes the completions of many.
 *
 * Results. A call returns 0 or a count if it succeeds, and else a negative code. tpslmsg_text says
 * what a code means, tpslmsg_error what was wrong with the call. No argument that a call can
 * check ends the process. A pointer that is not NULL must lead to memory.
 *
 * Memory. Arrays and structures of a call may be used again when it returns. The buffer of an
 * operation belongs to the library from tpslmsg_post until its completion is reaped, or until
 * tpslmsg_end returns: it must stay allocated, that of a receive must not be read, and
 * that of a send must not be changed. The library keeps no other pointer of the program. A
 * region is the library's in the same way until tpslmsg_unregister returns.
 *
 * Threads. Any thread may make any call, and needs no preparation. Different ports may be used by
 * different threads at the same time. One port may be used by one thread at a time, unless
 * tpslmsg_options.shared is set; a second thread gets TPSLMSG_BUSY. Messages move while threads
 * are in calls: a port whose threads compute meanwhile may receive nothing. No call may be made
 * from a signal handler. A thread must not be cancelled (pthread_cancel) in a call.
 *
 * Fork. A child made by fork has no job: there each call but tpslmsg_text and tpslmsg_error
 * returns TPSLMSG_FORKED. The parent goes on. A program that the child executes is as any other.
 *
 * Signals. The library has Go's runtime in it. Dispositions of SIGSEGV, SIGBUS, SIGFPE and all others stay as
 * the program has set them, before or after the library is loaded, with two exceptions. SIGPIPE,
 * if it would end the process as the library is loaded, does nothing instead: connections may break.
 * SIGURG is the runtime's. Handlers must have SA_ONSTACK, for a thread in a call may have a small
 * stack; those that are there as the library is loaded get it.
 *
 * Unloading. Once loaded the library stays in the process: dlclose has no effect.
 *
 * A Go program has no use for this library, and must not load it: it imports endpoints/engine.
 */
#ifndef TPSLMSG_H
#define TPSLMSG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Handles. Those of a job that has ended are never used again. {0} stands for none. */
typedef struct {
    uint64_t number;
} tpslmsg_job;

typedef struct {
    uint64_t number;
} tpslmsg_port;

/* Codes of calls and completions. */
enum {
    TPSLMSG_OK = 0,
    TPSLMSG_INVALID = -1,   /* an argument is wrong; nothing was done */
    TPSLMSG_CLOSED = -2,    /* the job has ended, or ends */
    TPSLMSG_BUSY = -3,      /* another thread is in a call of this port, which is not shared */
    TPSLMSG_FORKED = -4,    /* the process is a child made by fork */
    TPSLMSG_LAUNCHER = -5,  /* the job could not be started or ended together with its other processes */
    TPSLMSG_TRUNCATED = -6, /* of a receive: the message is longer than the buffer, which has its first bytes */
    TPSLMSG_GONE = -7,      /* the process of the other port has ended */
    TPSLMSG_NO_REGION = -8  /* the key names no region: it is unregistered, or the key is wrong */
};

/* What a code means: one line without a newline, which stays valid. */
const char *tpslmsg_text(int code);

/* What was wrong with the last call of the calling thread that returned a negative code: one line
 * without a newline, valid until the next such call. "" if there was none. */
const char *tpslmsg_error(void);

/* A time-out in seconds from 0 on. At 0 a call does not wait. */
#define TPSLMSG_FOREVER 1e300

/* Options of a job. A member that is 0 has its default, but size must be set. */
struct tpslmsg_options {
    size_t size; /* sizeof(struct tpslmsg_options): later versions may append members */
    int ports;   /* of this process; 1. Processes may have different numbers */
    int shared;  /* 1: any number of threads may use one port at the same time */
};

/* Starts this process's part of the job of mpiexec -n N; without a launcher the process is a job
 * of its own. options may be NULL. It returns when the processes of the job know one another, or with
 * TPSLMSG_LAUNCHER. timeout bounds the time for that, once all of them have called it. A process starts one job
 * of a launcher, and any number of its own. */
int tpslmsg_start(const struct tpslmsg_options *options, double timeout, tpslmsg_job *job);

/* Ends this process's part. It returns when all processes of the job have called it, and so does
 * TPSLMSG_LAUNCHER if the launcher has ended. All that others need of this process must have happened before: complete
 * your operations, and agree by messages that others have completed theirs. Threads that are in calls
 * of the job's ports get TPSLMSG_CLOSED, and operations under way have no completion. Whatever it returns but
 * TPSLMSG_INVALID, TPSLMSG_CLOSED and TPSLMSG_FORKED, the job has ended. */
int tpslmsg_end(tpslmsg_job job);

/* The first rank of this process, how many it has, and how many ports the job has. Each may be NULL. */
int tpslmsg_ranks(tpslmsg_job job, int *first, int *here, int *size);

/* The port of a rank of this process. It lives as long as the job. */
int tpslmsg_open(tpslmsg_job job, int rank, tpslmsg_port *port);

/* What a key has is the library's business. Its bytes may be sent to other processes of the job. */
struct tpslmsg_key {
    unsigned char bytes[24];
};

/* Registers memory with a port: others may put into it and get from it, as long as they have the key. It
 * starts at a multiple of 8, has at least one byte, and is shared until tpslmsg_unregister returns. */
int tpslmsg_register(tpslmsg_port port, void *memory, size_t bytes, struct tpslmsg_key *key);

/* Ends that, by the key that tpslmsg_register gave. It waits for accesses under way, and makes progress meanwhile. */
int tpslmsg_unregister(tpslmsg_port port, const struct tpslmsg_key *key);

/* Kinds of operations, and the members of struct tpslmsg_op that they use beside kind, cookie, buffer and bytes. */
enum {
    TPSLMSG_SEND = 1,     /* peer, tag, context: the bytes at buffer */
    TPSLMSG_RECEIVE,      /* peer, tag, context: up to that many bytes to buffer */
    TPSLMSG_PUT,          /* key, offset: the bytes at buffer into the region */
    TPSLMSG_PUT_SIGNAL,   /* the same, and context: then the region's port gets a completion with signal = 1 and the context */
    TPSLMSG_GET,          /* key, offset: so many bytes of the region to buffer */
    TPSLMSG_FETCH_ADD,    /* key, offset, operand: adds it to the word of 8 bytes in the region */
    TPSLMSG_COMPARE_SWAP, /* key, offset, operand, replacement: replaces the word if it is operand */

    TPSLMSG_ANY = -1 /* as peer or tag of a receive: whatever it is */
};

/* An operation. Messages between two ports with one tag and context come in the order posted. The others have
 * no order: wait for a completion before you post what must come later. For FETCH_ADD and COMPARE_SWAP buffer is where the
 * word goes as it was before, 8 bytes at a multiple of 8, or NULL; bytes is 8; offset is a multiple of 8. Both are
 * atomic among one another, and with atomic operations of the processor in the region's process. */
struct tpslmsg_op {
    int32_t kind;
    int32_t peer;     /* the rank that is sent to, or received from */
    int32_t tag;      /* from 0 on */
    uint32_t context; /* only messages of equal contexts match */
    void *buffer;     /* NULL if there are no bytes */
    size_t bytes;
    uint64_t cookie; /* the completion has it */
    const struct tpslmsg_key *key;
    size_t offset; /* in the region, in bytes */
    uint64_t operand;
    uint64_t replacement;
};

/* The end of an operation, or a signal. */
struct tpslmsg_completion {
    uint64_t cookie;
    int32_t signal;   /* 0: an operation has ended. 1: a PUT_SIGNAL of another port has written into a region of this one */
    int32_t error;    /* 0, or why the operation did not do what it should */
    int32_t peer;     /* the other port; of a signal: who put */
    int32_t tag;      /* of a message */
    uint32_t context; /* of a message or a signal */
    uint32_t unused;  /* 0 */
    uint64_t bytes;   /* sent, received, put or got */
};

/* Posts operations in their order and returns how many: all, or those before the first that is wrong. If that is the very first, it
 * returns TPSLMSG_INVALID, or TPSLMSG_NO_REGION if it is an access of a port of this process. It never
 * waits. count is at least 1. What is posted has one completion each, on this port. */
int tpslmsg_post(tpslmsg_port port, const struct tpslmsg_op *ops, int count);

/* Makes progress and takes completions: returns as soon as there are at least `least` of them, with up to `most`. When the time-out is over, it
 * returns those that there are, maybe 0. most is at least 1, and least is from 0 to most. Completions that nobody
 * takes are kept, 40 bytes each. */
int tpslmsg_reap(tpslmsg_port port, struct tpslmsg_completion *completions, int least, int most, double timeout);

#ifdef __cplusplus
}
#endif

#endif
