// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Collective operations between ranks that are all threads of this process, by load and store (docs/collectives.md).
 *
 * The functions stand in front of the MPI library's own (loader.Config, Wrappers), so every way into the library leads
 * through them: the stubs, Fortran, and private libraries. They serve what is listed here. Everything else they pass on.
 *
 * All ranks of a communicator have to make the same choice. It depends on what is the same at all ranks of a right program: the
 * communicator, the operation, and in reductions the datatype and what is done. Datatypes of other operations may differ. A member whose
 * arguments are not served abstains, and the members that need its part leave the operation to the library as well.
 */
#include "blocks.h"
#include "hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The function behind a wrapper, found by its name. */
void *tpsl_behind(const char *name)
{
    void *function = tpsl_wrapped(name);
    if (!function)
        tpsl_die(1, "%s was called by a thread that acts for no rank; TPSL_Adopt gives it one, or unset TPSL_COLLECTIVES and TPSL_WINDOWS", name + 1);
    return function;
}

static void progress(void *state)
{
    tpsl_pending_look(&((struct tpsl_collectives *)state)->pending);
}

/* ---- seats ---- */

/* All ranks of a communicator free it, so the leaders of a hierarchy free theirs together. */
static int leave_seat(handle comm, int key, void *attribute, void *extra)
{
    struct tpsl_seat *seat = attribute;
    if (seat && seat->hierarchy)
        tpsl_hierarchy_leave(seat->hierarchy);
    if (seat)
        tpsl_seat_leave(seat);
    return SUCCESS;
}

int tpsl_report(struct tpsl_collectives *c, handle comm, int rc)
{
    if (rc != SUCCESS && rc != NOT_SERVED)
        c->Comm_call_errhandler(comm, rc);
    return rc;
}

static bool in_this_process(int world_rank)
{
    const struct tpsl_job *job = tpsl_self->job;
    for (int i = 0; i < job->nranks; i++)
        if (job->ranks[i].number == world_rank)
            return true;
    return false;
}

/* All ranks of a communicator are in this process; all are at least ranks of MPI_COMM_WORLD; one is not even that. */
enum where { IN_THIS_PROCESS, IN_THIS_WORLD, ELSEWHERE };

/* All ranks of a communicator find out alike whether it is in one process, and whether in one world, without a word to each other. */
static enum where where_is(struct tpsl_collectives *c, handle comm, int size)
{
    handle group, world;
    int *ranks = must_have(calloc(2 * (size_t)size, sizeof *ranks)), *in_world = ranks + size;
    enum where where = IN_THIS_PROCESS;

    for (int i = 0; i < size; i++)
        ranks[i] = i;
    must_succeed(c->Comm_group(comm, &group));
    must_succeed(c->Comm_group(COMM_WORLD, &world));
    must_succeed(c->Group_translate_ranks(group, size, ranks, world, in_world));
    for (int i = 0; where < ELSEWHERE && i < size; i++) {
        if (in_world[i] == UNDEFINED)
            where = ELSEWHERE;
        else if (!in_this_process(in_world[i]))
            where = IN_THIS_WORLD;
    }
    c->Group_free(&group);
    c->Group_free(&world);
    free(ranks);
    return where;
}

bool tpsl_all_are_here(struct tpsl_collectives *c, handle comm, int size)
{
    return where_is(c, comm, size) == IN_THIS_PROCESS;
}

static const char *describe(char *text, size_t size, uint64_t word)
{
    static const char *const names[CALLS] = {
        "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw",
        "Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan",
    };
    union what w = {.word = word};
    int n = snprintf(text, size, "MPI_%s", w.call < CALLS ? names[w.call] : "?");
    if (w.width && !w.abstains)
        n += snprintf(text + n, size - (size_t)n, " of %u elements of %u bytes by operation %u", w.elements, w.width, w.operation);
    if (w.abstains)
        snprintf(text + n, size - (size_t)n, " with arguments that the MPI library has to judge");
    else if (w.call == REDUCE || (w.call >= BCAST && w.call <= SCATTERV))
        snprintf(text + n, size - (size_t)n, " with root %u", w.root);
    return text;
}

static void differs(struct tpsl_seat *s, int member, uint64_t call)
{
    char own[128], other[128];
    tpsl_die(1, "ranks %d and %d of one communicator, of which the first is rank %d of the job, call different collective operations: %s, and %s",
             tpsl_rank_of(s, s->rank), tpsl_rank_of(s, member), tpsl_self->rank, describe(own, sizeof own, s->call), describe(other, sizeof other, call));
}

/* The library itself brings the members together. */
static struct tpsl_team *join_team(struct tpsl_collectives *c, handle comm, int size, int *member)
{
    struct tpsl_team *team = NULL;
    must_succeed(c->Comm_rank(comm, member));
    if (*member == 0)
        team = must_have(tpsl_team_make(size));
    must_succeed(c->Bcast(&team, sizeof team, TYPE_BYTE, 0, comm));
    return team;
}

/* The first time. */
static struct tpsl_seat *take_seat(struct tpsl_collectives *c, handle comm)
{
    struct tpsl_seat *seat = NULL;
    struct tpsl_hierarchy *hierarchy = NULL;
    struct tpsl_team *team = NULL;
    int inter = 0, size = 1, member = 0;

    must_succeed(c->Comm_test_inter(comm, &inter));
    must_succeed(c->Comm_size(comm, &size));
    enum where where = inter || size == 1 ? ELSEWHERE : where_is(c, comm, size);
    if (where == IN_THIS_PROCESS && c->able)
        team = join_team(c, comm, size, &member);
    else if (where == IN_THIS_WORLD && tpsl_self->job->libraries->alike)
        hierarchy = tpsl_hierarchy_join(c, comm, size, &team, &member);
    if (team) {
        seat = must_have(calloc(1, sizeof *seat));
        *seat = (struct tpsl_seat){.team = team, .rank = member, .crowded = tpsl_self->job->libraries->yields, .progress = progress, .library = c,
                                   .hierarchy = hierarchy, .differs = differs};
    }
    must_succeed(c->Comm_set_attr(comm, c->key, seat));
    return seat;
}

struct tpsl_seat *tpsl_seat_over_processes(struct tpsl_collectives *c, handle comm)
{
    const unsigned int kind = 0x3c000000, communicator = 0x04000000;
    struct tpsl_seat *seat;
    int found;

    if (!c || ((unsigned int)comm & kind) != communicator || comm == COMM_NULL)
        return NULL;
    if (c->Comm_get_attr(comm, c->key, &seat, &found) != SUCCESS)
        return NULL;
    return found ? seat : take_seat(c, comm);
}

struct tpsl_seat *tpsl_seat_in(struct tpsl_collectives *c, handle comm)
{
    struct tpsl_seat *seat = tpsl_seat_over_processes(c, comm);
    return seat && !seat->hierarchy ? seat : NULL;
}

/* ---- a rank's begin and end ---- */

/* Whether packed data lie as those of a predefined type do. */
static bool packs_plainly(struct tpsl_collectives *c)
{
    const int type_int = 0x4c000405, ints[3] = {1, -2, 0x01020304};
    int packed[3] = {0};

    return tpsl_convert(c, ints, 3, type_int, packed, sizeof packed, TYPE_PACKED) && memcmp(packed, ints, sizeof ints) == 0;
}

/* Whether buffers may be in the memory of an accelerator, which no load reads. */
static bool knows_accelerators(const struct tpsl_endpoint *ep)
{
    static const char *const questions[] = {"MPIX_Query_cuda_support", "MPIX_Query_hip_support", "MPIX_Query_ze_support"};
    bool known = false;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        int (*ask)(void) = tpsl_instance_symbol(ep->instance, questions[i], NULL);
        known |= ask && ask();
    }
    return known;
}

static int copy_no_seat(handle comm, int key, void *extra, void *seat, void *to, int *flag)
{
    *flag = 0;
    return SUCCESS;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the latest first: so this comes after those of the program, whose
 * functions may still call collective operations. Communicators may keep their seats for longer. */
static int end(handle self, int key, void *endpoint, void *extra)
{
    struct tpsl_endpoint *ep = endpoint;
    struct tpsl_collectives *c = ep->collectives;

    ep->collectives = NULL;
    c->Comm_free_keyval(&c->key);
    if (c->window_key)
        c->Win_free_keyval(&c->window_key);
    tpsl_pending_end(&c->pending);
    c->Comm_free(&c->self);
    free(c);
    return SUCCESS;
}

void tpsl_collectives_start(struct tpsl_endpoint *ep)
{
    const struct tpsl_libraries *l = ep->job->libraries;
    if (!(l->collectives || l->windows) || l->standard)
        return;
    struct tpsl_collectives *c = must_have(calloc(1, sizeof *c));
    pthread_mutex_init(&c->converting, NULL);
#define FIND(name, parameters)                                               \
    c->name = tpsl_wrapped("PMPI_" #name); \
    if (!c->name)                                                            \
        tpsl_die(1, "TPSL_COLLECTIVES=memory and TPSL_WINDOWS=memory need PMPI_" #name ", which the MPI library %s lacks", tpsl_instance_file(ep->instance));
    FUNCTIONS(FIND)
#undef FIND
#define FIND(name, parameters) c->name = tpsl_wrapped("PMPI_" #name);
    LARGE_FUNCTIONS(FIND)
#undef FIND
    must_succeed(c->Comm_dup(COMM_SELF, &c->self));
    must_succeed(c->Comm_set_errhandler(c->self, ERRORS_RETURN));
    c->able = !knows_accelerators(ep) && packs_plainly(c);
    must_succeed(c->Comm_create_keyval(copy_no_seat, leave_seat, &c->key, NULL));
    must_succeed(tpsl_pending_start(&c->pending) ? SUCCESS : ERR_OTHER);
    must_succeed(c->Comm_create_keyval(copy_no_seat, end, &c->end_key, NULL));
    ep->collectives = c;
    must_succeed(c->Comm_set_attr(COMM_SELF, c->end_key, ep));
    must_succeed(c->Comm_free_keyval(&c->end_key));
}

int tpsl_abstain(struct tpsl_seat *s, union what what)
{
    tpsl_team_begin(s, what.word);
    tpsl_team_abstain(s);
    tpsl_team_end(s);
    return NOT_SERVED;
}
