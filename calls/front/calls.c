// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* libtpslcalls: notes which MPI call each thread of a rank is in, for the proxy of its host to read (mpiexec -calls).
 *
 * It stands in front of the MPI library: ld.so preloads it into a process that is one rank, and our loader into the instance of each
 * rank where a process has several. So its variables are the rank's. Programs in C call MPI_Recv, and so does MPICH's Fortran; that of
 * Open MPI calls PMPI_Recv. So both names are here, and a call that comes from a call is not noted.
 *
 * Handles are integers in MPICH and addresses in others. All arguments are passed on as the words that they are.
 */
#include "board.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef uintptr_t word;

enum function {
#define CALL(name, ...) FUNCTION_##name,
#include "functions.h"
};

static struct tpsl_board_rank *own;  /* NULL: there is no board */
static struct tpsl_note nobodys;     /* of threads for which the board has no room */
static _Thread_local struct tpsl_note *note; /* of this thread; NULL before its first call */
static pthread_key_t at_thread_end;

/* ---- the functions behind these ---- */

/* What a library that was opened with RTLD_LOCAL calls is found as that library finds it. */
static void *find(const char *name, void *caller)
{
    void *function = dlsym(RTLD_NEXT, name);
    Dl_info in;
    if (!function && dladdr(caller, &in) && in.dli_fname) {
        void *library = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        if (library)
            function = dlsym(library, name);
    }
    if (!function) {
        fprintf(stderr, "tpsl: %s is in no library behind libtpslcalls; run without -calls\n", name);
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
    if (board->version == TPSL_BOARD_VERSION && index < board->ranks && sizeof *board + (index + 1) * sizeof *own <= (size_t)is.st_size)
        own = &board->rank[index];
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
    for (int i = 0; own && i < TPSL_BOARD_NOTES; i++) {
        int free = 0;
        if (atomic_compare_exchange_strong(&own->notes[i].thread, &free, gettid())) {
            note = &own->notes[i];
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
static inline struct tpsl_note *enter(enum function function, struct arguments a, word frame)
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

/* ---- communicators ---- */

static pthread_mutex_t communicators = PTHREAD_MUTEX_INITIALIZER;

/* What this library needs of an MPI library, and the constants of its ABI. */
static struct {
    int (*Comm_size)(word, int *), (*Comm_rank)(word, int *), (*Comm_test_inter)(word, int *), (*Query_thread)(int *), (*Bcast)(void *, word, word, word, word);
    word world, self, null, byte;
} mpi;

static bool is_standard(void)
{
    Dl_info in;
    const char *file = dladdr((void *)mpi.Comm_size, &in) ? strrchr(in.dli_fname, '/') : NULL;
    return file && strncmp(file, "/libmpi_abi.", strlen("/libmpi_abi.")) == 0;
}

/* An executable may have a copy of a library's variable, which the library then uses as well. */
static word variable(const char *name)
{
    Dl_info in;
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found && dladdr((void *)mpi.Comm_size, &in)) {
        void *library = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, name) : NULL;
    }
    return (word)found;
}

static void learn_library(void)
{
    mpi.Comm_size = find("PMPI_Comm_size", NULL);
    mpi.Comm_rank = find("PMPI_Comm_rank", NULL);
    mpi.Comm_test_inter = find("PMPI_Comm_test_inter", NULL);
    mpi.Query_thread = find("PMPI_Query_thread", NULL);
    mpi.Bcast = find("PMPI_Bcast", NULL);
    mpi.world = variable("ompi_mpi_comm_world");
    if (mpi.world) {
        mpi.self = variable("ompi_mpi_comm_self");
        mpi.null = variable("ompi_mpi_comm_null");
        mpi.byte = variable("ompi_mpi_byte");
        own->abi = TPSL_ABI_OPENMPI;
    } else if (is_standard()) {
        mpi.world = 0x101, mpi.self = 0x102, mpi.null = 0x100, mpi.byte = 0x247;
        own->abi = TPSL_ABI_STANDARD;
    } else {
        mpi.world = 0x44000000, mpi.self = 0x44000001, mpi.null = 0x04000000, mpi.byte = 0x4c00010d;
        own->abi = TPSL_ABI_MPICH;
    }
}

/* A handle as it stands in the board: MPICH's has 32 bits, and the rest of its word may hold anything. */
static word handle(word communicator)
{
    return own->abi == TPSL_ABI_MPICH ? (uint32_t)communicator : communicator;
}

static struct tpsl_communicator *known(word communicator)
{
    for (int i = 0; i < TPSL_BOARD_COMMUNICATORS; i++)
        if (own->communicators[i].handle == communicator)
            return &own->communicators[i];
    return NULL;
}

static void add(word communicator, uint64_t id, const char *name)
{
    struct tpsl_communicator *c;
    pthread_mutex_lock(&communicators);
    c = known(communicator);
    c = c ? c : known(0);
    if (c && mpi.Comm_size(communicator, &c->size) == 0 && mpi.Comm_rank(communicator, &c->rank) == 0) {
        c->id = id;
        snprintf(c->name, sizeof c->name, "%s", name);
        c->handle = communicator;
    }
    pthread_mutex_unlock(&communicators);
}

static void forget(word communicator)
{
    pthread_mutex_lock(&communicators);
    struct tpsl_communicator *c = communicator ? known(communicator) : NULL;
    if (c)
        c->handle = 0;
    pthread_mutex_unlock(&communicators);
}

enum { WORLD_ID = 1, FIRST_ID = 2 };

/* The first member of a new communicator names it. */
static void learn(word communicator)
{
    static _Atomic uint32_t made = FIRST_ID;
    int inter = 1, rank = 0;
    if (handle(communicator) == mpi.null || mpi.Comm_test_inter(communicator, &inter) != 0 || inter || mpi.Comm_rank(communicator, &rank) != 0)
        return;
    uint64_t id = rank == 0 ? (uint64_t)(own->rank + 1) << 32 | atomic_fetch_add(&made, 1) : 0;
    if (mpi.Bcast(&id, sizeof id, mpi.byte, 0, communicator) == 0)
        add(handle(communicator), id, "");
}

static void learn_new(const void *communicator)
{
    if (own->abi == TPSL_ABI_UNKNOWN)
        learn_library();
    learn(own->abi == TPSL_ABI_MPICH ? *(const uint32_t *)communicator : *(const word *)communicator);
}

static void begin(void)
{
    const int multiple = 3, standard_multiple = 4096;
    int level = 0;
    learn_library();
    own->multiple = mpi.Query_thread(&level) != 0 || level == (own->abi == TPSL_ABI_STANDARD ? standard_multiple : multiple);
    add(mpi.world, WORLD_ID, "MPI_COMM_WORLD");
    add(mpi.self, (uint64_t)(own->rank + 1) << 32, "MPI_COMM_SELF");
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
#define NONE 0

/* Calls what stands behind a name, and then does something if that has succeeded. */
#define FRONT(symbol, name, words, after, ...)                                                      \
    EXPORTED int symbol(PARAMETERS_##words)                                                          \
    {                                                                                                \
        static int (*next)(PARAMETERS_##words);                                                      \
        if (!next)                                                                                   \
            next = (int (*)(PARAMETERS_##words))find(#symbol, __builtin_return_address(0));          \
        struct tpsl_note *n = enter(FUNCTION_##name, (struct arguments){__VA_ARGS__}, (word)__builtin_frame_address(0)); \
        int result = next(ARGUMENTS_##words);                                                        \
        if (n && result == 0) {                                                                      \
            after;                                                                                   \
        }                                                                                            \
        leave(n);                                                                                    \
        return result;                                                                               \
    }
#define BOTH(name, words, after, ...) FRONT(MPI_##name, name, words, after, __VA_ARGS__) FRONT(PMPI_##name, name, words, after, __VA_ARGS__)

#define CALL(name, words, kind, ...) BOTH(name, words, , __VA_ARGS__)
#define CREATE(name, words, communicator, new) BOTH(name, words, learn_new((const void *)new), communicator, NONE, NONE, NONE, NONE)
#define BEGIN(name, words) BOTH(name, words, begin(), NONE, NONE, NONE, NONE, NONE)
#define LEAVE(name, words)
#include "functions.h"

/* A handle is gone after the call. */
#define LEAVE_FRONT(symbol, name)                                                                             \
    EXPORTED int symbol(void *communicator)                                                                   \
    {                                                                                                         \
        static int (*next)(void *);                                                                           \
        if (!next)                                                                                            \
            next = (int (*)(void *))find(#symbol, __builtin_return_address(0));                               \
        word left = own ? (own->abi == TPSL_ABI_MPICH ? *(uint32_t *)communicator : *(word *)communicator) : 0; \
        struct tpsl_note *n = enter(FUNCTION_##name, (struct arguments){.communicator = left}, (word)__builtin_frame_address(0)); \
        if (n)                                                                                                \
            forget(left);                                                                                     \
        int result = next(communicator);                                                                      \
        leave(n);                                                                                             \
        return result;                                                                                        \
    }
LEAVE_FRONT(MPI_Comm_free, Comm_free)
LEAVE_FRONT(PMPI_Comm_free, Comm_free)
LEAVE_FRONT(MPI_Comm_disconnect, Comm_disconnect)
LEAVE_FRONT(PMPI_Comm_disconnect, Comm_disconnect)

#define SET_NAME_FRONT(symbol)                                                                       \
    EXPORTED int symbol(word communicator, const char *name)                                         \
    {                                                                                                \
        static int (*next)(word, const char *);                                                      \
        if (!next)                                                                                   \
            next = (int (*)(word, const char *))find(#symbol, __builtin_return_address(0));          \
        int result = next(communicator, name);                                                       \
        if (own && result == 0) {                                                                    \
            pthread_mutex_lock(&communicators);                                                      \
            struct tpsl_communicator *c = known(handle(communicator));                               \
            if (c)                                                                                   \
                snprintf(c->name, sizeof c->name, "%s", name);                                       \
            pthread_mutex_unlock(&communicators);                                                    \
        }                                                                                            \
        return result;                                                                               \
    }
SET_NAME_FRONT(MPI_Comm_set_name)
SET_NAME_FRONT(PMPI_Comm_set_name)
