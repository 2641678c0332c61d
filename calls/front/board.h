/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The board: memory that the ranks of a host share with their proxy, in which each thread of a rank notes the MPI call that it is in.
 * The reader is calls/board_linux.go, the twin of this file.
 *
 * A note has one writer, the thread, and is read while it is written. Its sequence number is odd while the thread is in the call. The
 * fields are written before it becomes odd. So a reader that finds the same odd number before and after has read the fields of one call.
 */
#ifndef TPSL_BOARD_H
#define TPSL_BOARD_H

#include <stddef.h>
#include <stdint.h>

enum {
    TPSL_BOARD_VERSION = 1,
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
    uint64_t spare[2];
};

struct tpsl_communicator {
    _Atomic uint64_t handle; /* 0: none is here; written last */
    uint64_t id;             /* the same at all members, and of no other communicator of the job */
    int32_t size, rank;
    char name[TPSL_BOARD_NAME];
};

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
    uint64_t spare[7];
    struct tpsl_board_rank rank[];
};

_Static_assert(sizeof(struct tpsl_note) == 64 && offsetof(struct tpsl_note, peer) == 24 && offsetof(struct tpsl_note, function) == 40, "calls/board_linux.go");
_Static_assert(sizeof(struct tpsl_communicator) == 64 && offsetof(struct tpsl_communicator, name) == 24, "calls/board_linux.go");
_Static_assert(sizeof(struct tpsl_board) == 64 && offsetof(struct tpsl_board_rank, notes) == 64 && sizeof(struct tpsl_board_rank) == 4608, "calls/board_linux.go");

#endif
