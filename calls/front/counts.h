/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the functions of functions.h do, as far as it is counted: what they move, to whom, and which requests they make and complete.
 *
 * BEFORE_X stands before the call and may change arguments; AFTER_X stands after a call that has succeeded. `v` is the visit, a0 to a12
 * are the arguments, and `large` says that counts are 64 bits long.
 *
 * Arguments that MPI says are ignored may hold anything, so a datatype is only asked for its size where it counts: the macros expand to
 * expressions that are evaluated then.
 */
#ifndef TPSL_COUNTS_H
#define TPSL_COUNTS_H

#include "front.h"

#define BEFORE_NOTHING
#define AFTER_NOTHING

#ifndef TPSL_PROFILE

#define COUNT_BEGIN(function, by_pmpi)
#define COUNT_RETURNED
#define COUNT_END
#define BEFORE_GIVES(...)
#define AFTER_GIVES(...)
#define BEFORE_FILES(...)
#define AFTER_FILES(...)
#define BEFORE_RECEIVES(...)
#define AFTER_RECEIVES(...)
#define BEFORE_EXCHANGES(...)
#define AFTER_EXCHANGES(...)
#define BEFORE_MATCHES(...)
#define AFTER_MATCHES(...)
#define BEFORE_TAKES(...)
#define AFTER_TAKES(...)
#define BEFORE_COMPLETES(...)
#define AFTER_COMPLETES(...)
#define BEFORE_COMPLETES_ALL(...)
#define AFTER_COMPLETES_ALL(...)
#define BEFORE_COMPLETES_ANY(...)
#define AFTER_COMPLETES_ANY(...)
#define BEFORE_COMPLETES_SOME(...)
#define AFTER_COMPLETES_SOME(...)
#define BEFORE_OPENS(...)
#define AFTER_OPENS(...)
#define BEFORE_CLOSES(...)
#define AFTER_CLOSES(...)

#else

/* ---- what is moved ---- */

/* The members of a communicator, or of the other group of an intercommunicator. NULL: not known. */
struct members;

enum shape { TO_NOBODY, TO_PEER, FROM_PEER, TO_EACH, TO_MEMBERS, TO_NEIGHBOUR_LIST, TO_FOLLOWER };

/* What one call brings to whom. */
struct flow {
    enum shape shape;
    enum tpsl_way way;
    int peer;             /* in the communicator */
    uint64_t given, each; /* bytes of the call; bytes for each that gets some */
    uint64_t *list;       /* bytes for each member or neighbour; whoever has the flow frees it */
};

/* Bytes of some elements; the type of none is not looked at. */
uint64_t tpsl_bytes(int64_t count, word type);
bool tpsl_in_place(word buffer);
bool tpsl_is_root(const struct members *, int root);
bool tpsl_gives_to_root(const struct members *, int root);
int64_t tpsl_own_count(const struct members *, word counts, bool large);
int tpsl_size(const struct members *);
int tpsl_neighbours(struct members *);
/* Allocates. A list of n counts of elements of one type, or of a type for each. */
uint64_t *tpsl_list(int n, word counts, word type, bool large);
uint64_t *tpsl_list_of_types(int n, word counts, word types, bool large);
struct flow tpsl_to_list(enum shape, int n, uint64_t *list);

#define INT(word) ((int32_t)(word))
#define COUNT(word) (large ? (int64_t)(word) : (int64_t)INT(word))
#define SIZED(count, type) tpsl_bytes(count, type)
#define BYTES(count, type) SIZED(COUNT(count), type)
#define IN_PLACE(buffer) tpsl_in_place(buffer)
#define OWN(buffer, bytes) (tpsl_in_place(buffer) ? 0 : (bytes))
#define OWN_COUNT(counts) tpsl_own_count(k, counts, large)
#define LIST(counts, type) tpsl_list(tpsl_size(k), counts, type, large)
#define TYPES(counts, types) tpsl_list_of_types(tpsl_size(k), counts, types, large)
#define NEIGHBOURS_LIST(counts, type) tpsl_list(tpsl_neighbours(k), counts, type, large)
#define NEIGHBOURS_TYPES(counts, types) tpsl_list_of_types(tpsl_neighbours(k), counts, types, large)

static inline struct flow tpsl_flow(enum shape shape, enum tpsl_way way, int peer, uint64_t given, uint64_t each)
{
    return (struct flow){shape, way, peer, given, each, NULL};
}

#define NO_FLOW ((struct flow){.shape = TO_NOBODY, .way = TPSL_COLLECTIVE})
static inline struct flow tpsl_same(enum shape shape, enum tpsl_way way, int peer, uint64_t bytes) { return tpsl_flow(shape, way, peer, bytes, bytes); }
static inline struct flow tpsl_each(int n, uint64_t bytes) { return tpsl_flow(TO_EACH, TPSL_COLLECTIVE, 0, bytes * (uint64_t)n, bytes); }
#define TO(rank, bytes) tpsl_same(TO_PEER, TPSL_MESSAGES, INT(rank), bytes)
#define FROM(rank, bytes) tpsl_same(FROM_PEER, TPSL_MESSAGES, INT(rank), bytes)
#define TO_ALL(bytes) tpsl_same(TO_EACH, TPSL_COLLECTIVE, 0, bytes)
#define EACH_TO_ALL(bytes) tpsl_each(tpsl_size(k), bytes)
#define TO_NEXT(bytes) tpsl_same(TO_FOLLOWER, TPSL_COLLECTIVE, 0, bytes)
#define TO_ROOT(root, bytes) (tpsl_gives_to_root(k, INT(root)) ? tpsl_same(TO_PEER, TPSL_COLLECTIVE, INT(root), bytes) : NO_FLOW)
#define FROM_ROOT(root, bytes) (tpsl_is_root(k, INT(root)) ? TO_ALL(bytes) : NO_FLOW)
#define EACH_FROM_ROOT(root, bytes) (tpsl_is_root(k, INT(root)) ? EACH_TO_ALL(bytes) : NO_FLOW)
#define TO_LIST(list) tpsl_to_list(TO_MEMBERS, tpsl_size(k), list)
#define LIST_FROM_ROOT(root, list) (tpsl_is_root(k, INT(root)) ? TO_LIST(list) : NO_FLOW)
#define LIST_TO_NEIGHBOURS(list) tpsl_to_list(TO_NEIGHBOUR_LIST, tpsl_neighbours(k), list)
#define TO_NEIGHBOURS(bytes) tpsl_to_neighbours(k, bytes, 1)
#define EACH_TO_NEIGHBOURS(bytes) tpsl_to_neighbours(k, bytes, tpsl_neighbours(k))
struct flow tpsl_to_neighbours(struct members *, uint64_t bytes, int times);

/* ---- counting ---- */

#define COUNT_BEGIN(function_number, by_pmpi)                 \
    v.counts = false;                                         \
    if (tpsl_counts) {                                        \
        v.function = function_number;                         \
        v.communicator = a.communicator;                      \
        v.place = (word)__builtin_return_address(0);          \
        tpsl_count_begin(&v, frame, by_pmpi);                 \
    }
#define COUNT_RETURNED                  \
    if (v.counts) {                     \
        v.ended = tpsl_ticks();         \
        if (result != 0)                \
            v.communicator = 0; /* it may be none */ \
    }
#define COUNT_END \
    if (v.counts) \
        tpsl_count(&v, frame);

/* Begins to count what a call has moved; tpsl_count ends that. Returns the members of its communicator. */
struct members *tpsl_moves(struct visit *);
struct members *tpsl_members_of_window(word window);
void tpsl_give(struct visit *, struct members *, struct flow);

#define AFTER_MOVES(what)                      \
    if (v.counts) {                            \
        struct members *k = tpsl_moves(&v);    \
        (void)k;                               \
        what                                   \
    }

#define BEFORE_GIVES(flow)
#define AFTER_GIVES(flow) AFTER_MOVES(tpsl_give(&v, k, flow);)
#define BEFORE_FILES(amount)
#define AFTER_FILES(amount) AFTER_MOVES(v.bytes += amount;)
#define BEFORE_PUTS(...)
#define AFTER_PUTS(window, rank, bytes) AFTER_MOVES(tpsl_give(&v, tpsl_members_of_window(window), tpsl_same(TO_PEER, TPSL_ONE_SIDED, INT(rank), bytes));)
#define BEFORE_GETS(...)
#define AFTER_GETS(window, rank, bytes) AFTER_MOVES(tpsl_give(&v, tpsl_members_of_window(window), tpsl_same(FROM_PEER, TPSL_ONE_SIDED, INT(rank), bytes));)
#define BEFORE_OPENS(window)
#define AFTER_OPENS(window) AFTER_MOVES(tpsl_open_window((const void *)window, k);)
#define BEFORE_CLOSES(window) \
    if (v.counts)             \
        tpsl_close_window((const void *)window);
#define AFTER_CLOSES(window)
void tpsl_open_window(const void *window, struct members *);
void tpsl_close_window(const void *window);

/* ---- what is received ---- */

enum { STATUS_BYTES = 64, STATUSES = 16 }; /* more than any library's status has; as many without malloc */

/* Where the call puts a status: where the program wants it, or here if it wants none. */
#define OWN_STATUS(status)                                        \
    uint64_t own_status[STATUS_BYTES / sizeof(uint64_t)];         \
    if (v.counts && tpsl_ignored(status))                         \
        status = (word)own_status;
bool tpsl_ignored(word status);
/* A message has come, as its status says. */
void tpsl_receive(struct visit *, struct members *, const void *status);

#define BEFORE_RECEIVES(status) OWN_STATUS(status)
#define AFTER_RECEIVES(status) AFTER_MOVES(tpsl_receive(&v, k, (const void *)status);)
#define BEFORE_EXCHANGES(flow, status) OWN_STATUS(status)
#define AFTER_EXCHANGES(flow, status) AFTER_MOVES(tpsl_give(&v, k, flow); tpsl_receive(&v, k, (const void *)status);)

/* ---- requests and matched messages ---- */

/* What is known of a handle until it is completed or freed. */
enum request { RECEIVE, PREPARED_RECEIVE, PREPARED_PARTS, PREPARED, MATCHED };
void tpsl_await(const void *handle, enum request, struct members *, struct flow);
void tpsl_drop(word handle, bool message);
/* Takes a matched message: its members, who are to be left. */
struct members *tpsl_take_matched(word message);
void tpsl_leave_members(struct members **);
#define MATCHED_MEMBERS(message) \
    struct members *matched __attribute__((cleanup(tpsl_leave_members))) = v.counts ? tpsl_take_matched(tpsl_handle_at((const void *)message, 0)) : NULL;
void tpsl_start(struct visit *, int n, const void *requests);

#define BEFORE_AWAITS(request)
#define AFTER_AWAITS(request) AFTER_MOVES(tpsl_await((const void *)request, RECEIVE, k, NO_FLOW);)
#define BEFORE_AWAITS_EXCHANGE(flow, request)
#define AFTER_AWAITS_EXCHANGE(flow, request) AFTER_MOVES(tpsl_give(&v, k, flow); tpsl_await((const void *)request, RECEIVE, k, NO_FLOW);)
#define BEFORE_PREPARES(request, flow)
#define AFTER_PREPARES(request, flow) AFTER_MOVES(tpsl_await((const void *)request, PREPARED, k, flow);)
#define BEFORE_PREPARES_RECEIVE(request)
#define AFTER_PREPARES_RECEIVE(request) AFTER_MOVES(tpsl_await((const void *)request, PREPARED_RECEIVE, k, NO_FLOW);)
#define BEFORE_PREPARES_PARTS(request, flow)
#define AFTER_PREPARES_PARTS(request, flow) AFTER_MOVES(tpsl_await((const void *)request, PREPARED_PARTS, k, flow);)
#define BEFORE_STARTS(n, requests)
#define AFTER_STARTS(n, requests) AFTER_MOVES(tpsl_start(&v, n, (const void *)requests);)
#define BEFORE_FREES(request) \
    if (v.counts)             \
        tpsl_drop(tpsl_handle_at((const void *)request, 0), false);
#define AFTER_FREES(request)
#define BEFORE_MATCHES(message, flag)
#define AFTER_MATCHES(message, flag) AFTER_MOVES(if (!flag || *(int *)flag) tpsl_await((const void *)message, MATCHED, k, NO_FLOW);)
#define BEFORE_TAKES(message, status)                                          \
    MATCHED_MEMBERS(message)                                                   \
    OWN_STATUS(status)
#define AFTER_TAKES(message, status) AFTER_MOVES(tpsl_receive(&v, matched, (const void *)status);)
#define BEFORE_AWAITS_MATCHED(message, request) MATCHED_MEMBERS(message)
#define AFTER_AWAITS_MATCHED(message, request) AFTER_MOVES(tpsl_await((const void *)request, RECEIVE, matched, NO_FLOW);)

/* Requests that a call may complete: their handles are gone after it. */
struct completing {
    int n;         /* 0: no request is followed */
    word *handles;
    char *statuses; /* NULL: the program's are used */
    word few_handles[STATUSES];
    uint64_t few_statuses[STATUSES * STATUS_BYTES / sizeof(uint64_t)];
};
/* Sets the argument for one status or several, if any of these requests is followed and the program wants none. */
void tpsl_completing(struct completing *, int n, const void *requests, word *statuses, bool one);
void tpsl_complete(struct visit *, struct completing *, int which, const void *status);
/* The status at an index of those that the call has filled. */
const void *tpsl_status_at(word statuses, int index);
void tpsl_completed(struct completing *);

#define COMPLETING(many, requests, status, one)                                      \
    struct completing c __attribute__((cleanup(tpsl_completed)));                  \
    c.n = 0;                                                                       \
    if (v.counts)                                                                  \
        tpsl_completing(&c, many, (const void *)requests, &status, one);
#define AFTER_COMPLETING(what)        \
    if (c.n > 0) {                    \
        tpsl_moves(&v);               \
        what                          \
    }
#define BEFORE_COMPLETES(request, flag, status) COMPLETING(1, request, status, true)
#define AFTER_COMPLETES(request, flag, status) AFTER_COMPLETING(if (!flag || *(int *)flag) tpsl_complete(&v, &c, 0, (const void *)status);)
#define BEFORE_COMPLETES_ALL(count, requests, flag, statuses) COMPLETING(INT(count), requests, statuses, false)
#define AFTER_COMPLETES_ALL(count, requests, flag, statuses) \
    AFTER_COMPLETING(for (int i = 0; i < c.n && (!flag || *(int *)flag); i++) tpsl_complete(&v, &c, i, tpsl_status_at(statuses, i));)
#define BEFORE_COMPLETES_ANY(count, requests, index, flag, status) COMPLETING(INT(count), requests, status, true)
#define AFTER_COMPLETES_ANY(count, requests, index, flag, status) \
    AFTER_COMPLETING(if (!flag || *(int *)flag) tpsl_complete(&v, &c, *(int *)index, (const void *)status);)
#define BEFORE_COMPLETES_SOME(count, requests, done, indices, statuses) COMPLETING(INT(count), requests, statuses, false)
#define AFTER_COMPLETES_SOME(count, requests, done, indices, statuses) \
    AFTER_COMPLETING(for (int i = 0; i < *(int *)done; i++) tpsl_complete(&v, &c, ((int *)indices)[i], tpsl_status_at(statuses, i));)

#endif
#endif
