/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Teams: the ranks of a communicator that are all threads of this process, and what they tell each other by load and store.
 */
#ifndef TPSL_TEAM_H
#define TPSL_TEAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TPSL_CACHE_LINE = 64,
    TPSL_POST_BYTES = TPSL_CACHE_LINE - 2 * sizeof(uint64_t), /* what fits into a post */
    TPSL_POSTS = 8, /* that a member can have before the others have read the first of them */
};
#define TPSL_CALL_KIND 0xffull    /* these bits of a call are the same in all members, even if some abstain */
#define TPSL_ABSTAINS (1ull << 63) /* this bit of a call is the team's own */

/* What one member tells the others in one operation. It has one writer and lies in one cache line. */
struct tpsl_post {
    _Atomic uint64_t operation; /* the last one for which the rest is valid; operations count from 1 */
    uint64_t call;              /* what the member's operation is */
    unsigned char data[TPSL_POST_BYTES];
} __attribute__((aligned(64)));

/* Parts of a copy that two members share: a part belongs to the member that takes its number first. */
struct tpsl_parts {
    _Atomic uint64_t operation_and_taken; /* in the lower half: how many parts are taken */
    _Atomic uint32_t finished; /* parts of that operation */
} __attribute__((aligned(64)));

struct tpsl_member {
    struct tpsl_post posts[TPSL_POSTS]; /* that of an operation is at its number modulo TPSL_POSTS */
    struct tpsl_post answer;            /* of the first member, to what all have posted */
    struct tpsl_parts parts;
    _Atomic uint64_t done __attribute__((aligned(64))); /* the member reads no post of this operation and of earlier ones any more */
};

struct tpsl_team {
    int size;
    _Atomic int left; /* members that still have a seat */
    struct tpsl_member members[];
};

struct tpsl_hierarchy; /* hierarchy.h */

/* What one member knows of its team: it belongs to the member alone. */
struct tpsl_seat {
    struct tpsl_team *team;
    int rank;           /* in the team */
    uint64_t operation; /* the latest */
    uint64_t call;      /* what it is: all members that take part have to mean the same */
    uint64_t known;     /* all members have done this operation */
    bool crowded;       /* members are more than the CPUs, so one that waits leaves its CPU to others */
    void (*progress)(void *); /* lets the MPI library work, while the member waits */
    void *library;            /* its argument */
    struct tpsl_hierarchy *hierarchy; /* NULL: the team has all ranks of the communicator */
    void (*differs)(struct tpsl_seat *, int member, uint64_t call); /* another member means another call; does not return */
};

struct tpsl_team *tpsl_team_make(int size); /* NULL: no memory */
/* Gives up a seat, and frees the team with its last one. */
void tpsl_seat_leave(struct tpsl_seat *);

/* Begins the member's next operation, and waits until its post can be written. All members make the same calls in the same
 * order. A call leaves the bit TPSL_ABSTAINS clear. */
void tpsl_team_begin(struct tpsl_seat *, uint64_t call);
/* Ends it: the member has read what it wants of the others' posts. */
void tpsl_team_end(struct tpsl_seat *);

/* The place for the member's post. Either tpsl_team_publish makes it visible, or the member abstains: it takes no part in the operation. */
void *tpsl_team_post(struct tpsl_seat *);
void tpsl_team_publish(struct tpsl_seat *);
void tpsl_team_abstain(struct tpsl_seat *);
/* Waits for the post of another member, or of the member itself. NULL: that member abstains. */
const void *tpsl_team_read(struct tpsl_seat *, int member);
/* Waits for the posts of all members. False: one of them abstains. */
bool tpsl_team_all_take_part(struct tpsl_seat *);
/* Waits until the member has ended the operation. */
void tpsl_team_await(struct tpsl_seat *, int member);
/* The same for all members. This one has ended it. */
void tpsl_team_await_all(struct tpsl_seat *);

/* Waits for the posts of all members. Then answer(seat, to, data) is called, either in each member or in the first one, whose answer
 * the others get; `to` has `bytes` bytes, at most TPSL_POST_BYTES. Returns what it returns: 0, or a positive number where it has failed. -1: a
 * member abstains, and there is no answer. In a hierarchy the first member answers, and a member that does not want the answer need not call this. */
typedef int tpsl_answer(struct tpsl_seat *, void *to, const void *data);
int tpsl_team_meet(struct tpsl_seat *, tpsl_answer *, const void *data, void *to, size_t bytes);

/* Copies `bytes` bytes, less than 2^47, to a member by parts. That member calls it, and any other that has seen its post may call
 * it as well. It returns when there is no part to take; the member waits until all parts are there. Before its post, the member
 * calls tpsl_team_open_parts. */
void tpsl_team_open_parts(struct tpsl_seat *);
void tpsl_team_copy(struct tpsl_seat *, int member, void *to, const void *from, size_t bytes);

#endif
