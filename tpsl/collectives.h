/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Collective operations, and accesses to windows, by load and store: what their files have in common. docs/collectives.md and
 * docs/windows.md describe them.
 */
#ifndef TPSL_COLLECTIVES_H
#define TPSL_COLLECTIVES_H

#include "dispatch.h"
#include "pending.h"
#include "team.h"

#include <pthread.h>

/* Of MPICH's mpi.h. */
typedef int handle;
enum {
    SUCCESS = 0,
    ERR_TYPE = 3,
    ERR_TRUNCATE = 14,
    ERR_OTHER = 15,
    COMM_WORLD = 0x44000000,
    COMM_SELF = 0x44000001,
    COMM_NULL = 0x04000000,
    TYPE_BYTE = 0x4c00010d,
    TYPE_NULL = 0x0c000000,
    TYPE_PACKED = 0x4c00010f,
    ERRORS_RETURN = 0x54000001,
    UNDEFINED = -32766,
};
#define IN_PLACE ((void *)-1)
#define STATUS_IGNORE ((void *)1)

/* Functions that stand in front of the MPI library's, for counts of both widths. */
#define COLLECTIVES(FUNCTION, suffix, count, displacement)                                                                              \
    FUNCTION(Bcast##suffix, (void *, count, handle, int, handle))                                                                       \
    FUNCTION(Gather##suffix, (const void *, count, handle, void *, count, handle, int, handle))                                         \
    FUNCTION(Gatherv##suffix, (const void *, count, handle, void *, const count[], const displacement[], handle, int, handle))          \
    FUNCTION(Scatter##suffix, (const void *, count, handle, void *, count, handle, int, handle))                                        \
    FUNCTION(Scatterv##suffix, (const void *, const count[], const displacement[], handle, void *, count, handle, int, handle))         \
    FUNCTION(Allgather##suffix, (const void *, count, handle, void *, count, handle, handle))                                           \
    FUNCTION(Allgatherv##suffix, (const void *, count, handle, void *, const count[], const displacement[], handle, handle))            \
    FUNCTION(Alltoall##suffix, (const void *, count, handle, void *, count, handle, handle))                                            \
    FUNCTION(Alltoallv##suffix, (const void *, const count[], const displacement[], handle, void *, const count[],                      \
                                 const displacement[], handle, handle))                                                                 \
    FUNCTION(Alltoallw##suffix, (const void *, const count[], const displacement[], const handle[], void *, const count[],              \
                                 const displacement[], const handle[], handle))                                                         \
    FUNCTION(Reduce##suffix, (const void *, void *, count, handle, handle, int, handle))                                                \
    FUNCTION(Allreduce##suffix, (const void *, void *, count, handle, handle, handle))                                                  \
    FUNCTION(Reduce_scatter##suffix, (const void *, void *, const count[], handle, handle, handle))                                     \
    FUNCTION(Reduce_scatter_block##suffix, (const void *, void *, count, handle, handle, handle))                                       \
    FUNCTION(Scan##suffix, (const void *, void *, count, handle, handle, handle))                                                       \
    FUNCTION(Exscan##suffix, (const void *, void *, count, handle, handle, handle))

/* The same for windows (windows.c). */
#define ACCESSES(FUNCTION, suffix, count, unit)                                                        \
    FUNCTION(Put##suffix, (const void *, count, handle, int, intptr_t, count, handle, handle))         \
    FUNCTION(Get##suffix, (void *, count, handle, int, intptr_t, count, handle, handle))               \
    FUNCTION(Win_create##suffix, (void *, intptr_t, unit, handle, handle, handle *))                   \
    FUNCTION(Win_allocate##suffix, (intptr_t, unit, handle, handle, void *, handle *))                 \
    FUNCTION(Win_allocate_shared##suffix, (intptr_t, unit, handle, handle, void *, handle *))

/* Functions of a rank's MPI library, without its wrappers. */
#define FUNCTIONS(FUNCTION)                                                                                  \
    COLLECTIVES(FUNCTION, , int, int)                                                                        \
    ACCESSES(FUNCTION, , int, int)                                                                           \
    FUNCTION(Barrier, (handle))                                                                              \
    FUNCTION(Comm_call_errhandler, (handle, int))                                                            \
    FUNCTION(Comm_dup, (handle, handle *))                                                                   \
    FUNCTION(Comm_free, (handle *))                                                                          \
    FUNCTION(Comm_set_errhandler, (handle, handle))                                                          \
    FUNCTION(Comm_create_keyval, (void *, int (*)(handle, int, void *, void *), int *, void *))              \
    FUNCTION(Comm_free_keyval, (int *))                                                                      \
    FUNCTION(Comm_get_attr, (handle, int, void *, int *))                                                    \
    FUNCTION(Comm_set_attr, (handle, int, void *))                                                           \
    FUNCTION(Comm_group, (handle, handle *))                                                                 \
    FUNCTION(Comm_rank, (handle, int *))                                                                     \
    FUNCTION(Comm_size, (handle, int *))                                                                     \
    FUNCTION(Comm_split, (handle, int, int, handle *))                                                       \
    FUNCTION(Comm_test_inter, (handle, int *))                                                               \
    FUNCTION(Error_class, (int, int *))                                                                      \
    FUNCTION(Group_free, (handle *))                                                                         \
    FUNCTION(Group_translate_ranks, (handle, int, const int[], handle, int[]))                               \
    FUNCTION(Query_thread, (int *))                                                                          \
    FUNCTION(Sendrecv, (const void *, int, handle, int, int, void *, int, handle, int, int, handle, void *)) \
    FUNCTION(Type_get_extent, (handle, intptr_t *, intptr_t *))                                              \
    FUNCTION(Type_size_x, (handle, int64_t *))                                                               \
    FUNCTION(Win_create_keyval, (void *, int (*)(handle, int, void *, void *), int *, void *))               \
    FUNCTION(Win_flush, (int, handle))                                                                       \
    FUNCTION(Win_free_keyval, (int *))                                                                       \
    FUNCTION(Win_get_attr, (handle, int, void *, int *))                                                     \
    FUNCTION(Win_lock, (int, int, int, handle))                                                              \
    FUNCTION(Win_lock_all, (int, handle))                                                                    \
    FUNCTION(Win_set_attr, (handle, int, void *))                                                            \
    FUNCTION(Win_unlock, (int, handle))                                                                      \
    FUNCTION(Win_unlock_all, (handle))

/* The same of MPI 4, which the library may lack. */
#define LARGE_FUNCTIONS(FUNCTION)                \
    COLLECTIVES(FUNCTION, _c, int64_t, intptr_t) \
    ACCESSES(FUNCTION, _c, int64_t, intptr_t)    \
    FUNCTION(Sendrecv_c, (const void *, int64_t, handle, int, int, void *, int64_t, handle, int, int, handle, void *))

/* A rank's state. */
struct tpsl_collectives {
#define MEMBER(name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
    LARGE_FUNCTIONS(MEMBER)
#undef MEMBER
    int key;        /* of the attribute by which communicators have the rank's seat; a NULL is no seat */
    int window_key; /* of the attribute by which windows have what the rank knows of them; 0: the library serves all windows */
    int end_key;    /* of the attribute of MPI_COMM_SELF by which MPI_Finalize ends this */
    bool able;      /* to serve this rank; false: the library does */
    pthread_mutex_t converting;
    handle self;    /* a communicator of the rank alone, for messages that no receive of the program takes */
    struct tpsl_pending pending;
};

/* The state of the rank for which the calling thread acts; NULL: the library serves it. */
static inline struct tpsl_collectives *my_state(void)
{
    return tpsl_self ? tpsl_self->collectives : NULL;
}

/* The library's function behind a wrapper, for a rank with or without state. */
#define LIBRARY(c, name) LIBRARY_OF(c, name) /* a name may be a macro's */
#define LIBRARY_OF(c, name) ((c) ? (c)->name : (typeof((c)->name))tpsl_behind("PMPI_" #name))
void *tpsl_behind(const char *name);

/* The rank's seat in the team of a communicator; NULL: the library serves it, or says what is wrong with it. From then on each
 * operation on the communicator has to be one of the team as well, even if only to abstain. */
struct tpsl_seat *tpsl_seat_in(struct tpsl_collectives *, handle comm);
/* The same for operations that are served in hierarchies, too (hierarchy.h). */
struct tpsl_seat *tpsl_seat_over_processes(struct tpsl_collectives *, handle comm);

/* Whether all members of an intra-communicator are ranks of this process. All of them come to the same answer, without a word to each other. */
bool tpsl_all_are_here(struct tpsl_collectives *, handle comm, int size);

/* What a member calls, as the others compare it. The root's number and the number of elements are cut to these bits. */
enum call {
    BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW,
    REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, CALLS
};
union what {
    uint64_t word;
    struct {
        uint8_t call, operation, width, root;
        uint32_t elements : 31, abstains : 1;
    };
};

/* What operations return if the library shall serve them: no error class, nor a code of the library. */
enum { NOT_SERVED = -1 };

/* Spends an operation of the team, of which the library serves the member. Returns NOT_SERVED. */
int tpsl_abstain(struct tpsl_seat *, union what);

/* What an operation returns to the program: an error class of ours is raised as those of the library are. */
int tpsl_report(struct tpsl_collectives *, handle comm, int rc);

static inline void *must_have(void *memory)
{
    if (!memory)
        tpsl_die(1, "no memory for collective operations or windows; TPSL_COLLECTIVES=library and TPSL_WINDOWS=library take none");
    return memory;
}

/* For functions that fail only if something is wrong with the library or with us. */
static inline void must_succeed(int rc)
{
    if (rc != SUCCESS)
        tpsl_die(1, "rank %d: the MPI library fails (error %d) while collective operations or windows are prepared; unset TPSL_COLLECTIVES and TPSL_WINDOWS", tpsl_self->rank, rc);
}

/* Predefined types but for those of MINLOC and MAXLOC, which may have gaps. */
static inline bool tpsl_is_row(handle type)
{
    return (unsigned int)type >> 24 == 0x4c;
}

/* ---- movement.c ---- */
/* Of all ranks of the communicator. Returns an error class. */
int tpsl_barrier(struct tpsl_seat *);

#endif
