// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The functions in front of those of the MPI library. Each notes the call, for the proxy of the host to read (mpiexec -state).
 *
 * ld.so preloads this library into a process that is one rank, and our loader puts it into the instance of each rank where a process has
 * several. So its variables are the rank's. Programs in C call MPI_Recv, and so does MPICH's Fortran; that of Open MPI calls PMPI_Recv.
 * So both names are here, and a call that comes from a call is not noted.
 */
#include "counts.h"
#include "front.h"

#include "../../process/behind.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

struct tpsl_board_rank *tpsl_own;
struct tpsl_counts *tpsl_counts;
static struct tpsl_note nobodys;     /* of threads for which the board has no room */
static _Thread_local struct tpsl_note *note; /* of this thread; NULL before its first call */
static pthread_key_t at_thread_end;

void *tpsl_find(const char *name, const void *caller)
{
    static const void *_Atomic earlier; /* a caller that found a function */
    void *function = tpsl_behind(name, caller);
    if (!function)
        function = tpsl_behind(name, earlier); /* the address is not the caller's where it jumps here as the last thing that it does */
    else if (caller)
        earlier = caller;
    if (!function) {
        fprintf(stderr, "tpsl: %s is in no library behind the one that notes calls; run without -state and -profile\n", name);
        _exit(255);
    }
    return function;
}

/* ---- notes ---- */

__attribute__((constructor)) static void look_for_board(void)
{
    const char *descriptor = getenv("TPSL_BOARD_FD"), *local = getenv("MPI_LOCALRANKID");
    struct stat is;
    if (!descriptor || !local || strchr(local, ',') || fstat(atoi(descriptor), &is) != 0 || is.st_size < (off_t)sizeof(struct tpsl_board))
        return;
    struct tpsl_board *board = mmap(NULL, (size_t)is.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(descriptor), 0);
    size_t index = strtoul(local, NULL, 10);
    if (board == MAP_FAILED)
        return;
    size_t entries = sizeof *board + board->ranks * sizeof *tpsl_own;
    if (board->version != TPSL_BOARD_VERSION || index >= board->ranks || entries > (size_t)is.st_size)
        return;
    tpsl_own = &board->rank[index];
#ifdef TPSL_PROFILE
    if (board->counts && entries + board->ranks * sizeof *tpsl_counts <= (size_t)is.st_size)
        tpsl_counts = (struct tpsl_counts *)((char *)board + entries) + index;
    if (tpsl_counts)
        tpsl_choose_clock();
#endif
}

static void leave_note(void *thread_note)
{
    struct tpsl_note *n = thread_note;
    note = &nobodys; /* of calls that later functions of this kind make */
    n->sequence += n->sequence & 1;
    atomic_store(&n->thread, 0);
}

static void make_key(void) { pthread_key_create(&at_thread_end, leave_note); }

/* Gives the thread a note that is nobody's. */
__attribute__((noinline)) static struct tpsl_note *take_note(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    note = &nobodys;
    pthread_once(&once, make_key);
    for (int i = 0; tpsl_own && i < TPSL_BOARD_NOTES; i++) {
        int free = 0;
        if (atomic_compare_exchange_strong(&tpsl_own->notes[i].thread, &free, gettid())) {
            note = &tpsl_own->notes[i];
            pthread_setspecific(at_thread_end, note);
            break;
        }
    }
    return note;
}

struct arguments {
    word communicator, peer, tag, from, from_tag;
};

/* Returns the note of a call that has begun; NULL: it is not noted. A jump out of a call (longjmp, an exception of C++) leaves its
 * note; the next call from the same or an outer frame finds that. */
__attribute__((always_inline)) static inline struct tpsl_note *enter(enum function function, struct arguments a, word frame, word place)
{
    struct tpsl_note *n = note ? note : take_note();
    uint64_t sequence = atomic_load_explicit(&n->sequence, memory_order_relaxed), left = sequence & 1;
    if (n == &nobodys || (left && n->stack > frame))
        return NULL;
    if (left) {
        atomic_store_explicit(&n->sequence, sequence + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release); /* before the fields */
    }
    n->stack = frame;
    n->place = place;
    n->communicator = a.communicator;
    n->peer = (int32_t)a.peer;
    n->tag = (int32_t)a.tag;
    n->from = (int32_t)a.from;
    n->from_tag = (int32_t)a.from_tag;
    n->function = (int32_t)function;
    atomic_store_explicit(&n->sequence, sequence + left + 1, memory_order_release);
    return n;
}

static inline void leave(struct tpsl_note *n)
{
    if (n)
        atomic_store_explicit(&n->sequence, atomic_load_explicit(&n->sequence, memory_order_relaxed) + 1, memory_order_release);
}

static void begins(void)
{
    const int multiple = 3, standard_multiple = 4096;
    int level = 0;
    tpsl_learn_library();
    tpsl_own->multiple = tpsl_mpi.Query_thread(&level) != 0 || level == (tpsl_own->abi == TPSL_ABI_STANDARD ? standard_multiple : multiple);
    tpsl_learn_world();
}

/* ---- the functions ---- */

#define PARAMETERS_0 void
#define PARAMETERS_1 word a0
#define PARAMETERS_2 PARAMETERS_1, word a1
#define PARAMETERS_3 PARAMETERS_2, word a2
#define PARAMETERS_4 PARAMETERS_3, word a3
#define PARAMETERS_5 PARAMETERS_4, word a4
#define PARAMETERS_6 PARAMETERS_5, word a5
#define PARAMETERS_7 PARAMETERS_6, word a6
#define PARAMETERS_8 PARAMETERS_7, word a7
#define PARAMETERS_9 PARAMETERS_8, word a8
#define PARAMETERS_10 PARAMETERS_9, word a9
#define PARAMETERS_11 PARAMETERS_10, word a10
#define PARAMETERS_12 PARAMETERS_11, word a11
#define PARAMETERS_13 PARAMETERS_12, word a12
#define ARGUMENTS_0
#define ARGUMENTS_1 a0
#define ARGUMENTS_2 ARGUMENTS_1, a1
#define ARGUMENTS_3 ARGUMENTS_2, a2
#define ARGUMENTS_4 ARGUMENTS_3, a3
#define ARGUMENTS_5 ARGUMENTS_4, a4
#define ARGUMENTS_6 ARGUMENTS_5, a5
#define ARGUMENTS_7 ARGUMENTS_6, a6
#define ARGUMENTS_8 ARGUMENTS_7, a7
#define ARGUMENTS_9 ARGUMENTS_8, a8
#define ARGUMENTS_10 ARGUMENTS_9, a9
#define ARGUMENTS_11 ARGUMENTS_10, a10
#define ARGUMENTS_12 ARGUMENTS_11, a11
#define ARGUMENTS_13 ARGUMENTS_12, a12
#define NONE 0

/* What is done in any case. What a function does else is in counts.h: nothing, where nobody counts. */
#define BEFORE_BEGINS
#define AFTER_BEGINS \
    if (v.note)      \
        begins();
#define BEFORE_MAKES(communicator)
#define AFTER_MAKES(communicator) \
    if (v.note)                   \
        tpsl_learn_communicator((const void *)communicator);
#define BEFORE_LEAVES(communicator) \
    if (v.note)                     \
        tpsl_forget_communicator((const void *)communicator);
#define AFTER_LEAVES(communicator)
#define BEFORE_NAMES(communicator, name)
#define AFTER_NAMES(communicator, name) \
    if (tpsl_own)                       \
        tpsl_name_communicator(communicator, (const char *)name);

/* Calls what stands behind a name. `large` says that counts are 64 bits long. */
#define FRONT(symbol, function_name, words, noted, does, ...)                                              \
    EXPORTED int symbol(PARAMETERS_##words)                                                                 \
    {                                                                                                       \
        static int (*next)(PARAMETERS_##words);                                                             \
        if (!next)                                                                                          \
            next = (int (*)(PARAMETERS_##words))tpsl_find(#symbol, __builtin_return_address(0));            \
        const bool large = sizeof #function_name > 3 && #function_name[sizeof #function_name - 3] == '_' && #function_name[sizeof #function_name - 2] == 'c'; \
        const struct arguments a = {__VA_ARGS__};                                                           \
        const word frame = (word)__builtin_frame_address(0);                                                \
        struct visit v = {.note = noted ? enter(FUNCTION_##function_name, a, frame, (word)__builtin_return_address(0)) : NULL}; \
        COUNT_BEGIN(FUNCTION_##function_name, #symbol[0] == 'P')                                            \
        BEFORE_##does                                                                                       \
        int result = next(ARGUMENTS_##words);                                                               \
        COUNT_RETURNED                                                                                      \
        if (result == 0) {                                                                                  \
            AFTER_##does                                                                                    \
        }                                                                                                   \
        COUNT_END                                                                                           \
        leave(v.note);                                                                                      \
        (void)large;                                                                                        \
        return result;                                                                                      \
    }
#define BOTH(name, words, noted, does, ...) \
    FRONT(MPI_##name, name, words, noted, does, __VA_ARGS__) FRONT(PMPI_##name, name, words, noted, does, __VA_ARGS__)

#define CALL(name, words, waits_for, communicator, peer, tag, from, from_tag, does) BOTH(name, words, true, does, communicator, peer, tag, from, from_tag)
#ifdef TPSL_PROFILE
#define START(name, words, communicator, does) BOTH(name, words, false, does, communicator, NONE, NONE, NONE, NONE)
#define OTHER(name, words) BOTH(name, words, false, NOTHING, NONE, NONE, NONE, NONE, NONE)
#else
#define START(name, ...)
#define OTHER(name, ...)
#endif
#include "functions.h"

#ifdef TPSL_PROFILE
/* Level 0 stops the counting, and any other level goes on with it. */
EXPORTED int MPI_Pcontrol(const int level, ...)
{
    static int (*next)(int, ...);
    if (!next)
        next = (int (*)(int, ...))tpsl_find("MPI_Pcontrol", __builtin_return_address(0));
    tpsl_count_none(level == 0);
    return next(level);
}
#endif
