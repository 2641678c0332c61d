/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The MPI functions of movement.c, for counts of type COUNT and displacements of type DISPLACEMENT. NAME says what a function is called.
 */
#define LARGE (sizeof(COUNT) > sizeof(int))

/* Serves the call if the rank has a seat, and otherwise, or if an operation refuses, goes on. */
#define SERVE(seat, operation)                                 \
    struct tpsl_collectives *c = my_state();                   \
    struct tpsl_seat *s = seat(c, comm);                       \
    int rc = s ? tpsl_report(c, comm, operation) : NOT_SERVED; \
    if (rc != NOT_SERVED)                                      \
        return rc

static int NAME(Bcast)(void *buffer, COUNT n, handle type, int root, handle comm)
{
    struct tpsl_blocks b = {.buffer = buffer, .count = n, .type = type};
    SERVE(tpsl_seat_over_processes, bcast(c, s, &b, root));
    return LIBRARY(c, NAME(Bcast))(buffer, n, type, root, comm);
}

static int NAME(Gather)(const void *from, COUNT nfrom, handle from_type, void *to, COUNT nto, handle to_type, int root, handle comm)
{
    struct tpsl_blocks gives = {.buffer = from, .count = nfrom, .type = from_type}, gets = {.buffer = to, .count = nto, .type = to_type};
    SERVE(tpsl_seat_in, gather(c, s, GATHER, &gives, &gets, root));
    return LIBRARY(c, NAME(Gather))(from, nfrom, from_type, to, nto, to_type, root, comm);
}

static int NAME(Gatherv)(const void *from, COUNT nfrom, handle from_type, void *to, const COUNT nto[], const DISPLACEMENT at[], handle to_type, int root,
                         handle comm)
{
    struct tpsl_blocks gives = {.buffer = from, .count = nfrom, .type = from_type};
    struct tpsl_blocks gets = {.buffer = to, .counts = nto, .displacements = at, .type = to_type, .large = LARGE};
    SERVE(tpsl_seat_in, gather(c, s, GATHERV, &gives, &gets, root));
    return LIBRARY(c, NAME(Gatherv))(from, nfrom, from_type, to, nto, at, to_type, root, comm);
}

static int NAME(Scatter)(const void *from, COUNT nfrom, handle from_type, void *to, COUNT nto, handle to_type, int root, handle comm)
{
    struct tpsl_blocks gives = {.buffer = from, .count = nfrom, .type = from_type}, gets = {.buffer = to, .count = nto, .type = to_type};
    SERVE(tpsl_seat_in, scatter(c, s, SCATTER, &gives, &gets, root));
    return LIBRARY(c, NAME(Scatter))(from, nfrom, from_type, to, nto, to_type, root, comm);
}

static int NAME(Scatterv)(const void *from, const COUNT nfrom[], const DISPLACEMENT at[], handle from_type, void *to, COUNT nto, handle to_type, int root,
                          handle comm)
{
    struct tpsl_blocks gives = {.buffer = from, .counts = nfrom, .displacements = at, .type = from_type, .large = LARGE};
    struct tpsl_blocks gets = {.buffer = to, .count = nto, .type = to_type};
    SERVE(tpsl_seat_in, scatter(c, s, SCATTERV, &gives, &gets, root));
    return LIBRARY(c, NAME(Scatterv))(from, nfrom, at, from_type, to, nto, to_type, root, comm);
}

static int NAME(Allgather)(const void *from, COUNT nfrom, handle from_type, void *to, COUNT nto, handle to_type, handle comm)
{
    struct tpsl_blocks gives = {.buffer = from, .count = nfrom, .type = from_type}, gets = {.buffer = to, .count = nto, .type = to_type};
    SERVE(tpsl_seat_in, exchange(c, s, ALLGATHER, true, &gives, &gets));
    return LIBRARY(c, NAME(Allgather))(from, nfrom, from_type, to, nto, to_type, comm);
}

static int NAME(Allgatherv)(const void *from, COUNT nfrom, handle from_type, void *to, const COUNT nto[], const DISPLACEMENT at[], handle to_type, handle comm)
{
    struct tpsl_blocks gives = {.buffer = from, .count = nfrom, .type = from_type};
    struct tpsl_blocks gets = {.buffer = to, .counts = nto, .displacements = at, .type = to_type, .large = LARGE};
    SERVE(tpsl_seat_in, exchange(c, s, ALLGATHERV, true, &gives, &gets));
    return LIBRARY(c, NAME(Allgatherv))(from, nfrom, from_type, to, nto, at, to_type, comm);
}

static int NAME(Alltoall)(const void *from, COUNT nfrom, handle from_type, void *to, COUNT nto, handle to_type, handle comm)
{
    struct tpsl_blocks gives = {.buffer = from, .count = nfrom, .type = from_type}, gets = {.buffer = to, .count = nto, .type = to_type};
    SERVE(tpsl_seat_in, exchange(c, s, ALLTOALL, false, &gives, &gets));
    return LIBRARY(c, NAME(Alltoall))(from, nfrom, from_type, to, nto, to_type, comm);
}

static int NAME(Alltoallv)(const void *from, const COUNT nfrom[], const DISPLACEMENT from_at[], handle from_type, void *to, const COUNT nto[],
                           const DISPLACEMENT to_at[], handle to_type, handle comm)
{
    struct tpsl_blocks gives = {.buffer = from, .counts = nfrom, .displacements = from_at, .type = from_type, .large = LARGE};
    struct tpsl_blocks gets = {.buffer = to, .counts = nto, .displacements = to_at, .type = to_type, .large = LARGE};
    SERVE(tpsl_seat_in, exchange(c, s, ALLTOALLV, false, &gives, &gets));
    return LIBRARY(c, NAME(Alltoallv))(from, nfrom, from_at, from_type, to, nto, to_at, to_type, comm);
}

static int NAME(Alltoallw)(const void *from, const COUNT nfrom[], const DISPLACEMENT from_at[], const handle from_types[], void *to, const COUNT nto[],
                           const DISPLACEMENT to_at[], const handle to_types[], handle comm)
{
    struct tpsl_blocks gives = {.buffer = from, .counts = nfrom, .displacements = from_at, .types = from_types, .large = LARGE};
    struct tpsl_blocks gets = {.buffer = to, .counts = nto, .displacements = to_at, .types = to_types, .large = LARGE};
    SERVE(tpsl_seat_in, exchange(c, s, ALLTOALLW, false, &gives, &gets));
    return LIBRARY(c, NAME(Alltoallw))(from, nfrom, from_at, from_types, to, nto, to_at, to_types, comm);
}

#undef SERVE
#undef LARGE
