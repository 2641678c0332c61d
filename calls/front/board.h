/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The board: memory that the ranks of a host share with their proxy, in which each thread of a rank notes the MPI call that it is in, and
 * in which ranks count their calls if the job is profiled. The readers are calls/board_linux.go and calls/counts_linux.go, the twins of
 * this file.
 *
 * A note has one writer, the thread, and is read while it is written. Its sequence number is odd while the thread is in the call. The
 * fields are written before it becomes odd. So a reader that finds the same odd number before and after has read the fields of one call.
 *
 * Counts are read when the rank has ended. What a rank was counting when it was killed is lost, in part or as a whole.
 */
#ifndef TPSL_BOARD_H
#define TPSL_BOARD_H

#include <stddef.h>
#include <stdint.h>

enum {
    TPSL_BOARD_VERSION = 2,
    TPSL_BOARD_NOTES = 8,          /* of a rank: threads that can be in calls at the same time */
    TPSL_BOARD_COMMUNICATORS = 63, /* of a rank that are known; calls on others are told without their members */
    TPSL_BOARD_NAME = 40,
};

enum tpsl_abi { TPSL_ABI_UNKNOWN, TPSL_ABI_MPICH, TPSL_ABI_OPENMPI, TPSL_ABI_STANDARD };

struct tpsl_note {
    _Atomic uint64_t sequence; /* calls that the thread has entered and left, in all */
    uint64_t stack;            /* frame that made the call */
    uint64_t communicator;     /* handle; 0: the call has none */
    int32_t peer, tag;         /* of what is sent, or of what is received by calls that only receive; as the program gave them */
    int32_t from, from_tag;    /* of what is received by calls that send and receive */
    int32_t function;          /* index in functions.h */
    _Atomic int32_t thread;    /* the kernel's id; 0: nobody's */
    uint64_t place;            /* where the call returns to */
    uint64_t spare;
};

struct tpsl_communicator {
    _Atomic uint64_t handle; /* 0: none is here; written last */
    uint64_t id;             /* the same at all members, and of no other communicator of the job */
    int32_t size, rank;
    char name[TPSL_BOARD_NAME];
};

/* ---- counts ---- */

enum {
    TPSL_COUNTS_ROWS = 1024,
    TPSL_COUNTS_PEERS = 1024,
    TPSL_COUNTS_GROUPS = 64,
    TPSL_COUNTS_OBJECTS = 32,
    TPSL_COUNTS_CLASSES = 64, /* of sizes: 0 bytes, 1, 2 to 3, 4 to 7, ... */
    TPSL_COUNTS_PATH = 248,
    TPSL_COUNTS_OTHER = 0,    /* index in each table of what has no row of its own, as the table is full */
    TPSL_COUNTS_NONE = 0xffff, /* no communicator, or no object */
};

/* What moves. */
enum tpsl_way { TPSL_MESSAGES, TPSL_ONE_SIDED, TPSL_COLLECTIVE, TPSL_WAYS };

struct tpsl_amount {
    uint64_t count, bytes;
};

/* Calls of a function from one place on one communicator. Times are in ticks of the rank's clock. */
struct tpsl_row {
    uint16_t function, group, object, spare; /* indices in functions.h, groups and objects */
    uint64_t place;                          /* where the call returns to, less where the object is loaded */
    uint64_t calls, bytes;                   /* bytes: sent by sends, received by receives and by what completes them, given to collective operations */
    uint64_t time, shortest, longest;
    uint64_t entered[2];                     /* sum of when the calls began, since `began` of the rank; low word first */
    uint64_t spare1;
};

struct tpsl_peer {
    int32_t rank, used;                 /* in the world of the rank; -1: another world's, or not known */
    struct tpsl_amount to[TPSL_WAYS];   /* sent, put, given to collective operations that bring it to this rank alone */
    struct tpsl_amount from[TPSL_WAYS]; /* received, got; 0 for collective operations */
};

/* A communicator, with what collective operations bring to all its other members. It stays when the communicator is freed. */
struct tpsl_group {
    uint64_t id; /* as in struct tpsl_communicator; 0: not known */
    int32_t size, rank;
    struct tpsl_amount to_all; /* bytes: to each of the others */
    char name[TPSL_BOARD_NAME];
};

struct tpsl_object {
    uint64_t base;
    char path[TPSL_COUNTS_PATH];
};

struct tpsl_counts {
    int32_t tsc;                       /* ticks are of the processor's counter; 0: they are nanoseconds of CLOCK_MONOTONIC */
    int32_t rows_used, groups_used, objects_used, peers_used, spare0;
    uint64_t first_ticks, first_time;  /* the same moment by both clocks */
    uint64_t last_ticks, last_time;    /* a later one */
    uint64_t began, ended;             /* ticks: first call of the rank, end of its last MPI_Finalize or MPI_Session_finalize; 0: there was none */
    uint64_t inside;                   /* ticks that its threads were in MPI, in all */
    uint64_t spare[6];
    struct tpsl_amount sizes[TPSL_WAYS][TPSL_COUNTS_CLASSES];
    struct tpsl_group groups[TPSL_COUNTS_GROUPS];
    struct tpsl_object objects[TPSL_COUNTS_OBJECTS];
    struct tpsl_row rows[TPSL_COUNTS_ROWS];
    struct tpsl_peer peers[TPSL_COUNTS_PEERS];
};

/* ---- the whole ---- */

struct tpsl_board_rank {
    int32_t rank;         /* in the world; the proxy writes it */
    _Atomic int32_t abi;  /* of its MPI library: enum tpsl_abi */
    int32_t multiple;     /* several threads may call MPI at the same time */
    int32_t spare0;
    uint64_t spare[6];
    struct tpsl_note notes[TPSL_BOARD_NOTES];
    struct tpsl_communicator communicators[TPSL_BOARD_COMMUNICATORS];
};

struct tpsl_board {
    uint32_t version, ranks; /* of this host; entry i is of the rank whose MPI_LOCALRANKID is i */
    uint32_t counts;         /* after the entries come those of struct tpsl_counts */
    uint32_t spare0;
    uint64_t spare[6];
    struct tpsl_board_rank rank[];
};

_Static_assert(sizeof(struct tpsl_note) == 64 && offsetof(struct tpsl_note, peer) == 24 && offsetof(struct tpsl_note, function) == 40 && offsetof(struct tpsl_note, place) == 48, "calls/board_linux.go");
_Static_assert(sizeof(struct tpsl_communicator) == 64 && offsetof(struct tpsl_communicator, name) == 24, "calls/board_linux.go");
_Static_assert(sizeof(struct tpsl_board) == 64 && offsetof(struct tpsl_board_rank, notes) == 64 && sizeof(struct tpsl_board_rank) == 4608, "calls/board_linux.go");
_Static_assert(sizeof(struct tpsl_row) == 80 && sizeof(struct tpsl_peer) == 104 && sizeof(struct tpsl_group) == 72 && sizeof(struct tpsl_object) == 256, "calls/counts_linux.go");
_Static_assert(offsetof(struct tpsl_counts, sizes) == 128 && offsetof(struct tpsl_counts, groups) == 3200 && offsetof(struct tpsl_counts, objects) == 7808, "calls/counts_linux.go");

#endif
