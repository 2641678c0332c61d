// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Counts the calls of a rank: how often, from where, for how long, what they moved and to whom. Rows of the tables are added in the order
 * in which they are needed. What has no row, because a table is full, is counted in the first one.
 */
#ifdef TPSL_PROFILE
#include "counts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local word inside; /* frame of the outermost call that the thread is in; 0: none */
static _Thread_local bool locked; /* by this thread; only threads that may call MPI at the same time need that */
static bool stopped;              /* by MPI_Pcontrol */

static struct {
    int (*Type_size)(word, void *), (*Comm_group)(word, word *), (*Comm_remote_group)(word, word *), (*Group_free)(word *);
    int (*Group_size)(word, int *), (*Group_translate_ranks)(word, int, const int *, word, int *);
    int (*Get_elements)(const void *, word, void *), (*Test_cancelled)(const void *, int *), (*Topo_test)(word, int *);
    int (*Cartdim_get)(word, int *), (*Cart_shift)(word, int, int, int *, int *), (*Graph_neighbors_count)(word, int, int *);
    int (*Graph_neighbors)(word, int, int, int *), (*Dist_graph_neighbors_count)(word, int *, int *, int *);
    int (*Dist_graph_neighbors)(word, int, int *, int *, int, int *, int *);
    bool known;
} mpi;

/* Constants of the ABIs, in the order of enum tpsl_abi. */
static const struct {
    int no_process, any_source, root, cart, graph, dist_graph;
    intptr_t in_place, ignored;
    int source; /* offset in a status, in bytes */
    int status; /* bytes */
} abis[] = {
    [TPSL_ABI_MPICH] = {.no_process = -1, .any_source = -2, .root = -3, .cart = 2, .graph = 1, .dist_graph = 3, .in_place = -1, .ignored = 1, .source = 8, .status = 20},
    [TPSL_ABI_OPENMPI] = {.no_process = -2, .any_source = -1, .root = -4, .cart = 1, .graph = 2, .dist_graph = 3, .in_place = 1, .ignored = 0, .source = 0, .status = 24},
    [TPSL_ABI_STANDARD] = {.no_process = -3, .any_source = -1, .root = -4, .cart = 1, .graph = 2, .dist_graph = 3, .in_place = 1, .ignored = 0, .source = 0, .status = 32},
};
#define ABI abis[tpsl_own->abi]

static void learn_functions(void)
{
    if (tpsl_own->abi == TPSL_ABI_UNKNOWN)
        tpsl_learn_library();
#define FIND(name) mpi.name = tpsl_find("PMPI_" #name, NULL)
    mpi.Type_size = tpsl_find("PMPI_Type_size_x", NULL);
    mpi.Get_elements = tpsl_find("PMPI_Get_elements_x", NULL);
    FIND(Comm_group), FIND(Comm_remote_group), FIND(Group_free), FIND(Group_size), FIND(Group_translate_ranks), FIND(Test_cancelled), FIND(Topo_test);
    FIND(Cartdim_get), FIND(Cart_shift), FIND(Graph_neighbors_count), FIND(Graph_neighbors), FIND(Dist_graph_neighbors_count), FIND(Dist_graph_neighbors);
    mpi.known = true;
}

/* ---- time ---- */

/* The kernel measures time by the processor's counter only where it goes on alike on all CPUs. */
void tpsl_choose_clock(void)
{
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    char name[4] = "";
    if (fd >= 0 && read(fd, name, sizeof name) == sizeof name)
        tpsl_counts->tsc = memcmp(name, "tsc\n", sizeof name) == 0;
    if (fd >= 0)
        close(fd);
}

static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t tpsl_ticks(void)
{
#ifdef __x86_64__
    if (tpsl_counts->tsc)
        return __builtin_ia32_rdtsc();
#endif
    return nanoseconds();
}

/* Notes the time by both clocks, so that a reader knows how long a tick is even if the rank is killed. */
__attribute__((noinline)) static void note_time(uint64_t ticks)
{
    struct tpsl_counts *c = tpsl_counts;
    c->last_ticks = ticks;
    c->last_time = nanoseconds();
    if (c->first_ticks == 0)
        c->first_ticks = c->began = ticks, c->first_time = c->last_time;
}

enum { NOTED_AFTER = 1 << 26 }; /* ticks: 20 to 70 ms */

/* ---- places ---- */

/* Finds rows by what they are for, with linear probing. */
enum { KEYS = 2 * TPSL_COUNTS_ROWS };
static struct key {
    word place;
    uint32_t what;    /* function and group */
    uint16_t row;     /* 0: the key is free */
    uint16_t binding; /* the place is in a binding, and what called that is this many words above the frame of our function */
} keys[KEYS];
/* Rows of keys whose place is in a binding, of those in the MPI library, and of those for which there was no row. */
enum { IN_BINDING = TPSL_COUNTS_ROWS, NOT_COUNTED, WITHOUT_ROW };
/* Some keys stay free, so that probing ends. What has no key is looked for each time. */
enum { MOST_KEYS = KEYS - KEYS / 8 };
static int keys_used;

static struct key *key_of(word place, uint32_t what)
{
    size_t at = (place * 0x9e3779b97f4a7c15u ^ what * 0x85ebca6bu) >> 7;
    for (;; at++) {
        struct key *k = &keys[at % KEYS];
        if (k->row == 0 || (k->place == place && k->what == what))
            return k;
    }
}

static bool put_key(struct key *k, struct key with)
{
    if (keys_used == MOST_KEYS)
        return false;
    keys_used++;
    *k = with;
    return true;
}

/* Bindings of Fortran and C++ call the functions of C for the program, whose place is looked for. libtpsl calls MPI_Init for it. */
static bool is_binding(const char *path)
{
    static const char *const bindings[] = {"libmpichfort.", "libmpifort.", "libmpi_mpifh.", "libmpi_usempi", "libmpichcxx.", "libmpi_cxx.", "libmpi_abi_fort.", "libtpsl.so"};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++)
        if (strncmp(name, bindings[i], strlen(bindings[i])) == 0)
            return true;
    return false;
}

static bool in_binding(word place)
{
    Dl_info in;
    return dladdr((void *)(place - 1), &in) && in.dli_fname && is_binding(in.dli_fname);
}

/* Walks out of the binding. */
struct walk {
    word from, place, stored_at; /* the place in the binding; that of its caller, and where on the stack it stands */
    bool inside;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *walk)
{
    struct walk *w = walk;
    word place = (word)_Unwind_GetIP(context);
    w->inside = w->inside || place == w->from;
    if (!w->inside || in_binding(place))
        return _URC_NO_REASON;
    w->place = place;
    w->stored_at = (word)_Unwind_GetCFA(context) - sizeof(word);
    return _URC_END_OF_STACK;
}

/* Returns what has called a binding, and how many words above the frame that stands; 0: not known. */
static word caller_of_binding(word place, word frame, uint16_t *above)
{
    struct walk w = {.from = place};
    _Unwind_Backtrace(step, &w);
    word distance = (w.stored_at - frame) / sizeof(word);
    *above = 0;
    if (!w.place || w.stored_at < frame || distance > UINT16_MAX || *(word *)w.stored_at != w.place)
        return 0;
    *above = (uint16_t)distance;
    return w.place;
}

/* MPICH calls some functions of its own by their MPI names. */
static bool by_library(word place)
{
    Dl_info in, library;
    return tpsl_mpi.Comm_size && dladdr((void *)(place - 1), &in) && dladdr((void *)tpsl_mpi.Comm_size, &library) && in.dli_fbase == library.dli_fbase;
}

static uint16_t object_of(word place, word *base)
{
    struct tpsl_counts *c = tpsl_counts;
    Dl_info in;
    *base = 0;
    if (!dladdr((void *)(place - 1), &in) || !in.dli_fname)
        return TPSL_COUNTS_NONE;
    *base = (word)in.dli_fbase;
    for (int i = 1; i <= c->objects_used; i++)
        if (c->objects[i].base == *base)
            return (uint16_t)i;
    if (c->objects_used + 1 == TPSL_COUNTS_OBJECTS)
        return TPSL_COUNTS_OTHER;
    struct tpsl_object *o = &c->objects[++c->objects_used];
    o->base = *base;
    char *whole = in.dli_fname[0] == '/' ? NULL : realpath("/proc/self/exe", NULL); /* the program, by its argv[0] */
    strncpy(o->path, whole ? whole : in.dli_fname, sizeof o->path - 1);
    free(whole);
    return (uint16_t)c->objects_used;
}

/* Returns the row for a place that has none yet. */
__attribute__((noinline)) static uint16_t add_row(struct key *k, word place, uint32_t what)
{
    struct tpsl_counts *c = tpsl_counts;
    word base;
    bool full = c->rows_used + 1 == TPSL_COUNTS_ROWS;
    if (!put_key(k, (struct key){.place = place, .what = what, .row = full ? WITHOUT_ROW : (uint16_t)(c->rows_used + 1)}) || full)
        return WITHOUT_ROW;
    uint16_t object = object_of(place, &base);
    struct tpsl_row *row = &c->rows[c->rows_used + 1];
    row->function = (uint16_t)what, row->group = (uint16_t)(what >> 16), row->object = object;
    row->place = place - base;
    row->shortest = UINT64_MAX;
    return (uint16_t)++c->rows_used;
}

/* Returns the row for calls that return to a place, made by a function of ours with this frame; or NOT_COUNTED or WITHOUT_ROW. */
static uint16_t row_of(word place, uint32_t what, word frame)
{
    struct key *k = key_of(place, what), *of_caller;
    uint16_t above;
    word caller;
    if (k->row != 0 && k->row != IN_BINDING)
        return k->row;
    if (k->row == 0 && by_library(place)) {
        put_key(k, (struct key){.place = place, .what = what, .row = NOT_COUNTED});
        return NOT_COUNTED;
    }
    if (k->row == 0 && !in_binding(place))
        return add_row(k, place, what);
    if (k->row == IN_BINDING) {
        caller = ((word *)frame)[k->binding];
        of_caller = key_of(caller, what);
        if (of_caller->row != 0)
            return of_caller->row;
    }
    caller = caller_of_binding(place, frame, &above);
    if (!caller) /* the place in the binding is all that is known */
        return k->row == 0 ? add_row(k, place, what) : WITHOUT_ROW;
    if (k->row == 0)
        put_key(k, (struct key){.place = place, .what = what, .row = IN_BINDING, .binding = above});
    of_caller = key_of(caller, what);
    return of_caller->row != 0 ? of_caller->row : add_row(of_caller, caller, what);
}

/* ---- members of communicators ---- */

struct members {
    int uses; /* the list's own, and those of requests and windows */
    word handle;
    int size, rank; /* rank: of this one; -1 for an intercommunicator */
    int *world;     /* ranks in the world, -1 for those of others */
    uint16_t group; /* index of struct tpsl_group */
    int nneighbours; /* -1: not asked for yet */
    int *neighbours; /* ranks in the communicator */
    struct members *next;
};

enum { BUCKETS = 64 };
static struct members *members[BUCKETS];
static struct members *last; /* that was looked for */
static word world_group;
static int *peer_rows, world_size; /* index of each rank of the world in the table of peers; 0: none yet */

static struct members **bucket_of(word handle) { return &members[(handle ^ handle >> 12) / (tpsl_own->abi == TPSL_ABI_MPICH ? 1 : 16) % BUCKETS]; }

static void leave_members(struct members *m)
{
    if (m && --m->uses == 0) {
        free(m->world);
        free(m->neighbours);
        free(m);
    }
}

static void learn_world_group(void)
{
    if (world_size == 0 && tpsl_own->abi != TPSL_ABI_UNKNOWN && tpsl_mpi.world && mpi.Comm_group(tpsl_mpi.world, &world_group) == 0 &&
        mpi.Group_size(world_group, &world_size) == 0)
        peer_rows = calloc((size_t)world_size, sizeof *peer_rows);
}

static void translate(struct members *m, word group)
{
    int *all = calloc((size_t)m->size, sizeof *all);
    m->world = calloc((size_t)m->size, sizeof *m->world);
    for (int i = 0; all && i < m->size; i++)
        all[i] = i;
    if (!peer_rows || !all || !m->world || mpi.Group_translate_ranks(group, m->size, all, world_group, m->world) != 0)
        m->size = 0;
    free(all);
}

static uint16_t group_of(const struct members *m)
{
    struct tpsl_counts *c = tpsl_counts;
    struct tpsl_communicator known;
    if (c->groups_used + 1 == TPSL_COUNTS_GROUPS)
        return TPSL_COUNTS_OTHER;
    struct tpsl_group *g = &c->groups[c->groups_used + 1];
    g->size = m->size, g->rank = m->rank;
    if (tpsl_known_communicator(m->handle, &known)) {
        g->id = known.id;
        memcpy(g->name, known.name, sizeof g->name);
    }
    return (uint16_t)++c->groups_used;
}

/* Returns the members of a communicator that has not been seen yet; NULL: they cannot be known. */
__attribute__((noinline)) static struct members *meet(word handle)
{
    struct members *m = calloc(1, sizeof *m), **bucket = bucket_of(handle);
    word group = 0;
    int inter = 0;
    if (!m)
        return NULL;
    learn_world_group();
    *m = (struct members){.uses = 1, .handle = handle, .rank = -1, .nneighbours = -1, .next = *bucket};
    if (tpsl_mpi.Comm_test_inter(handle, &inter) == 0 && (inter ? mpi.Comm_remote_group : mpi.Comm_group)(handle, &group) == 0) {
        mpi.Group_size(group, &m->size);
        translate(m, group);
        mpi.Group_free(&group);
        if (!inter)
            tpsl_mpi.Comm_rank(handle, &m->rank);
    }
    m->group = group_of(m);
    *bucket = m;
    return m;
}

/* NULL: they cannot be known. */
static struct members *members_of(word communicator)
{
    if (!mpi.known)
        learn_functions();
    word handle = tpsl_handle(communicator);
    if (handle == tpsl_mpi.null)
        return NULL;
    if (last && last->handle == handle)
        return last;
    struct members *m = *bucket_of(handle);
    while (m && m->handle != handle)
        m = m->next;
    return last = m ? m : meet(handle);
}

void tpsl_forget_members(word handle)
{
    struct members **at;
    pthread_mutex_lock(&counting);
    last = NULL;
    for (at = bucket_of(handle); *at && (*at)->handle != handle; at = &(*at)->next)
        ;
    if (*at) {
        struct members *m = *at;
        *at = m->next;
        leave_members(m);
    }
    pthread_mutex_unlock(&counting);
}

void tpsl_name_members(word handle, const char *name)
{
    pthread_mutex_lock(&counting);
    struct members *m = *bucket_of(handle);
    while (m && m->handle != handle)
        m = m->next;
    if (m && m->group != TPSL_COUNTS_OTHER)
        strncpy(tpsl_counts->groups[m->group].name, name, TPSL_BOARD_NAME - 1);
    pthread_mutex_unlock(&counting);
}

static int world_rank(const struct members *m, int rank) { return m && rank >= 0 && rank < m->size ? m->world[rank] : -1; }

static struct tpsl_peer *peer_of(int rank)
{
    struct tpsl_counts *c = tpsl_counts;
    c->peers[TPSL_COUNTS_OTHER].rank = -1;
    if (rank < 0 || rank >= world_size)
        return &c->peers[TPSL_COUNTS_OTHER];
    if (peer_rows[rank] == 0 && c->peers_used + 1 < TPSL_COUNTS_PEERS) {
        c->peers[++c->peers_used].rank = rank;
        peer_rows[rank] = c->peers_used;
    }
    return &c->peers[peer_rows[rank]];
}

/* ---- what is moved ---- */

uint64_t tpsl_bytes(int64_t count, word type)
{
    int64_t size = 0;
    if (count <= 0)
        return 0;
    if (!mpi.known)
        learn_functions();
    return mpi.Type_size(type, &size) == 0 && size > 0 ? (uint64_t)(count * size) : 0;
}

bool tpsl_in_place(word buffer) { return (intptr_t)buffer == ABI.in_place; }
bool tpsl_ignored(word status) { return (intptr_t)status == ABI.ignored; }
bool tpsl_is_root(const struct members *k, int root) { return k && (k->rank < 0 ? root == ABI.root : root == k->rank); }
bool tpsl_gives_to_root(const struct members *k, int root) { return k && root >= 0; }
int tpsl_size(const struct members *k) { return k ? k->size : 0; }

static int64_t count_at(word counts, int i, bool large) { return large ? ((const int64_t *)counts)[i] : ((const int32_t *)counts)[i]; }
int64_t tpsl_own_count(const struct members *k, word counts, bool large) { return k && k->rank >= 0 ? count_at(counts, k->rank, large) : 0; }

uint64_t *tpsl_list(int n, word counts, word type, bool large)
{
    uint64_t *list = calloc((size_t)n + 1, sizeof *list);
    for (int i = 0; list && i < n; i++)
        list[i] = tpsl_bytes(count_at(counts, i, large), type);
    return list;
}

uint64_t *tpsl_list_of_types(int n, word counts, word types, bool large)
{
    uint64_t *list = calloc((size_t)n + 1, sizeof *list);
    for (int i = 0; list && i < n; i++)
        list[i] = tpsl_bytes(count_at(counts, i, large), tpsl_handle_at((const void *)types, i));
    return list;
}

struct flow tpsl_to_list(enum shape shape, int n, uint64_t *list)
{
    struct flow f = {.shape = shape, .way = TPSL_COLLECTIVE, .list = list};
    for (int i = 0; list && i < n; i++)
        f.given += list[i];
    return f;
}

static void ask_neighbours(struct members *k)
{
    int topology = 0, n = 0, sources, weighted;
    k->nneighbours = 0;
    if (mpi.Topo_test(k->handle, &topology) != 0)
        return;
    if (topology == ABI.cart)
        n = mpi.Cartdim_get(k->handle, &n) == 0 ? 2 * n : 0;
    else if (topology == ABI.graph)
        mpi.Graph_neighbors_count(k->handle, k->rank, &n);
    else if (topology == ABI.dist_graph && mpi.Dist_graph_neighbors_count(k->handle, &sources, &n, &weighted) == 0) {
        int *unused = calloc((size_t)(2 * sources + n) + 1, sizeof *unused);
        k->neighbours = calloc((size_t)n + 1, sizeof *k->neighbours);
        if (unused && k->neighbours && mpi.Dist_graph_neighbors(k->handle, sources, unused, unused + sources, n, k->neighbours, unused + 2 * sources) == 0)
            k->nneighbours = n;
        free(unused);
        return;
    }
    k->neighbours = n > 0 ? calloc((size_t)n, sizeof *k->neighbours) : NULL;
    if (!k->neighbours)
        return;
    if (topology == ABI.graph)
        mpi.Graph_neighbors(k->handle, k->rank, n, k->neighbours);
    for (int i = 0; topology == ABI.cart && i < n / 2; i++)
        mpi.Cart_shift(k->handle, i, 1, &k->neighbours[2 * i], &k->neighbours[2 * i + 1]);
    k->nneighbours = n;
}

int tpsl_neighbours(struct members *k)
{
    if (k && k->nneighbours < 0)
        ask_neighbours(k);
    return k ? k->nneighbours : 0;
}

struct flow tpsl_to_neighbours(struct members *k, uint64_t bytes, int times)
{
    int n = tpsl_neighbours(k);
    uint64_t *list = calloc((size_t)n + 1, sizeof *list);
    for (int i = 0; list && i < n; i++)
        list[i] = bytes;
    struct flow f = tpsl_to_list(TO_NEIGHBOUR_LIST, n, list);
    f.given = bytes * (uint64_t)times;
    return f;
}

static void add_amount(struct tpsl_amount *a, uint64_t bytes) { a->count++, a->bytes += bytes; }

static int class_of(uint64_t bytes) { return bytes == 0 ? 0 : 64 - __builtin_clzll(bytes) < TPSL_COUNTS_CLASSES ? 64 - __builtin_clzll(bytes) : TPSL_COUNTS_CLASSES - 1; }

static void add_size(enum tpsl_way way, uint64_t bytes) { add_amount(&tpsl_counts->sizes[way][class_of(bytes)], bytes); }

/* Data goes to a member of a communicator; none of it to the rank itself by a collective operation. */
static void give_to(const struct members *k, enum tpsl_way way, int rank, uint64_t bytes)
{
    if (way != TPSL_COLLECTIVE || (k && rank != k->rank))
        add_amount(&peer_of(world_rank(k, rank))->to[way], bytes);
}

static void give(struct visit *v, const struct members *k, const struct flow *f)
{
    if (f->shape == TO_NOBODY || ((f->shape == TO_PEER || f->shape == FROM_PEER) && f->peer == ABI.no_process))
        return;
    v->bytes += f->given;
    switch (f->shape) {
    case TO_NOBODY:
        return;
    case TO_PEER:
        give_to(k, f->way, f->peer, f->each);
        break;
    case FROM_PEER:
        add_amount(&peer_of(world_rank(k, f->peer))->from[f->way], f->each);
        break;
    case TO_EACH:
        if (k)
            add_amount(&tpsl_counts->groups[k->group].to_all, f->each);
        break;
    case TO_FOLLOWER:
        if (k && k->rank + 1 < k->size)
            give_to(k, f->way, k->rank + 1, f->each);
        break;
    case TO_MEMBERS:
        for (int i = 0; i < tpsl_size(k) && f->list; i++)
            if (f->list[i] > 0)
                give_to(k, f->way, i, f->list[i]);
        break;
    case TO_NEIGHBOUR_LIST:
        for (int i = 0; k && i < k->nneighbours && f->list; i++)
            if (f->list[i] > 0 && k->neighbours[i] != ABI.no_process)
                give_to(k, f->way, k->neighbours[i], f->list[i]);
    }
    add_size(f->way, f->given);
}

void tpsl_give(struct visit *v, struct members *k, struct flow f)
{
    give(v, k, &f);
    free(f.list);
}

void tpsl_receive(struct visit *v, struct members *k, const void *status)
{
    int source, cancelled = 0;
    int64_t bytes = 0;
    memcpy(&source, (const char *)status + ABI.source, sizeof source);
    if (!mpi.known)
        learn_functions();
    if (source == ABI.no_process || source == ABI.any_source || mpi.Test_cancelled(status, &cancelled) != 0 || cancelled ||
        mpi.Get_elements(status, tpsl_mpi.byte, &bytes) != 0 || bytes < 0)
        return;
    v->bytes += (uint64_t)bytes;
    add_amount(&peer_of(world_rank(k, source))->from[TPSL_MESSAGES], (uint64_t)bytes);
}

/* ---- windows ---- */

struct window {
    word handle;
    struct members *members;
    struct window *next;
};
static struct window *windows;

struct members *tpsl_members_of_window(word window)
{
    word handle = tpsl_handle(window);
    for (struct window *w = windows; w; w = w->next)
        if (w->handle == handle)
            return w->members;
    return NULL;
}

void tpsl_open_window(const void *window, struct members *k)
{
    struct window *w = malloc(sizeof *w);
    if (!w || !k) {
        free(w);
        return;
    }
    k->uses++;
    *w = (struct window){tpsl_handle_at(window, 0), k, windows};
    windows = w;
}

void tpsl_close_window(const void *window)
{
    word handle = tpsl_handle_at(window, 0);
    pthread_mutex_lock(&counting);
    for (struct window **at = &windows; *at; at = &(*at)->next)
        if ((*at)->handle == handle) {
            struct window *w = *at;
            *at = w->next;
            leave_members(w->members);
            free(w);
            break;
        }
    pthread_mutex_unlock(&counting);
}

/* ---- requests ---- */

/* A table that grows, with linear probing. Requests and matched messages have handles of their own. */
struct followed {
    word handle; /* 0: free */
    bool message;
    enum request request;
    struct members *members;
    struct flow flow;
};
static struct followed *followed;
static size_t nfollowed, slots; /* a power of 2 */

static size_t slot_of(word handle) { return (handle * 0x9e3779b97f4a7c15u >> 20) & (slots - 1); }

static struct followed *find_followed(word handle, bool message)
{
    if (nfollowed == 0)
        return NULL;
    for (size_t at = slot_of(handle); followed[at].handle; at = (at + 1) & (slots - 1))
        if (followed[at].handle == handle && followed[at].message == message)
            return &followed[at];
    return NULL;
}

static void put_followed(struct followed f)
{
    size_t at = slot_of(f.handle);
    while (followed[at].handle && !(followed[at].handle == f.handle && followed[at].message == f.message))
        at = (at + 1) & (slots - 1);
    followed[at] = f;
    nfollowed++;
}

static bool grow(void)
{
    struct followed *old = followed;
    size_t n = slots;
    struct followed *more = calloc(n ? 2 * n : 64, sizeof *more);
    if (!more)
        return false;
    followed = more, slots = n ? 2 * n : 64, nfollowed = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i].handle)
            put_followed(old[i]);
    free(old);
    return true;
}

/* Takes an entry out of the table; what it holds is the caller's. Entries behind it that would not be found any more move. */
static struct followed take_followed(struct followed *f)
{
    struct followed taken = *f;
    size_t hole = (size_t)(f - followed);
    for (size_t at = (hole + 1) & (slots - 1); followed[at].handle; at = (at + 1) & (slots - 1)) {
        size_t home = slot_of(followed[at].handle);
        if (((at - home) & (slots - 1)) >= ((at - hole) & (slots - 1)))
            followed[hole] = followed[at], hole = at;
    }
    followed[hole].handle = 0;
    nfollowed--;
    return taken;
}

static void drop(struct followed *f)
{
    struct followed taken = take_followed(f);
    leave_members(taken.members);
    free(taken.flow.list);
}

void tpsl_await(const void *handle, enum request request, struct members *k, struct flow flow)
{
    word h = tpsl_handle_at(handle, 0);
    struct followed *stale = find_followed(h, request == MATCHED);
    if (stale)
        drop(stale);
    if (2 * nfollowed >= slots && !grow()) {
        free(flow.list);
        return;
    }
    if (k)
        k->uses++;
    put_followed((struct followed){h, request == MATCHED, request, k, flow});
}

void tpsl_drop(word handle, bool message)
{
    pthread_mutex_lock(&counting);
    struct followed *f = find_followed(handle, message);
    if (f)
        drop(f);
    pthread_mutex_unlock(&counting);
}

struct members *tpsl_take_matched(word message)
{
    struct members *k = NULL;
    pthread_mutex_lock(&counting);
    struct followed *f = find_followed(message, true);
    if (f)
        k = take_followed(f).members;
    pthread_mutex_unlock(&counting);
    return k;
}

void tpsl_leave_members(struct members **k)
{
    if (*k) {
        pthread_mutex_lock(&counting);
        leave_members(*k);
        pthread_mutex_unlock(&counting);
    }
}

void tpsl_start(struct visit *v, int n, const void *requests)
{
    for (int i = 0; i < n; i++) {
        struct followed *f = find_followed(tpsl_handle_at(requests, i), false);
        if (f && f->request == PREPARED)
            give(v, f->members, &f->flow);
    }
}

void tpsl_completing(struct completing *c, int n, const void *requests, word *statuses, bool one)
{
    int receives = 0;
    c->handles = c->few_handles, c->statuses = NULL;
    if (__atomic_load_n(&nfollowed, __ATOMIC_RELAXED) == 0 || n <= 0)
        return;
    if (n > STATUSES && !(c->handles = malloc((size_t)n * sizeof *c->handles)))
        return;
    c->n = n;
    pthread_mutex_lock(&counting);
    for (int i = 0; i < n; i++) {
        c->handles[i] = tpsl_handle_at(requests, i);
        receives += find_followed(c->handles[i], false) != NULL;
    }
    pthread_mutex_unlock(&counting);
    if (receives > 0 && tpsl_ignored(*statuses)) {
        c->statuses = one || n <= STATUSES ? (char *)c->few_statuses : malloc((size_t)n * STATUS_BYTES);
        if (c->statuses)
            *statuses = (word)c->statuses;
    }
    if (receives == 0 || tpsl_ignored(*statuses)) { /* nothing to follow, or no memory */
        tpsl_completed(c);
        c->n = 0;
    }
}

void tpsl_completed(struct completing *c)
{
    if (c->n > 0 && c->handles != c->few_handles)
        free(c->handles);
    if (c->n > 0 && c->statuses && c->statuses != (char *)c->few_statuses)
        free(c->statuses);
}

const void *tpsl_status_at(word statuses, int index) { return (const char *)statuses + (size_t)index * (size_t)ABI.status; }

void tpsl_complete(struct visit *v, struct completing *c, int which, const void *status)
{
    struct followed *f = which >= 0 && which < c->n ? find_followed(c->handles[which], false) : NULL;
    if (!f || f->request == PREPARED)
        return;
    if (f->request == PREPARED_PARTS)
        give(v, f->members, &f->flow);
    else
        tpsl_receive(v, f->members, status);
    if (f->request == RECEIVE)
        drop(f);
}

/* ---- calls ---- */

void tpsl_count_begin(struct visit *v, word frame, bool by_pmpi)
{
    v->outer = inside == 0 || inside <= frame; /* a call was left by a jump out of it if this one is from the same or an outer frame */
    v->counts = (v->outer || !by_pmpi) && !stopped;
    if (!v->counts)
        return;
    if (v->outer)
        inside = frame;
    v->bytes = 0;
    if (tpsl_counts->first_ticks == 0)
        note_time(tpsl_ticks());
    v->began = tpsl_ticks();
}

static void lock(void)
{
    if (tpsl_own->multiple && !locked)
        pthread_mutex_lock(&counting), locked = true;
}

struct members *tpsl_moves(struct visit *v)
{
    lock();
    return v->communicator ? members_of(v->communicator) : NULL;
}

static void add_call(struct tpsl_row *row, const struct visit *v, uint64_t took)
{
    unsigned __int128 entered = ((unsigned __int128)row->entered[1] << 64 | row->entered[0]) + (v->began - tpsl_counts->began);
    row->entered[0] = (uint64_t)entered, row->entered[1] = (uint64_t)(entered >> 64);
    row->calls++;
    row->bytes += v->bytes;
    row->time += took;
    row->shortest = took < row->shortest ? took : row->shortest;
    row->longest = took > row->longest ? took : row->longest;
}

void tpsl_count(struct visit *v, word frame)
{
    struct tpsl_counts *c = tpsl_counts;
    uint64_t took = v->ended - v->began;
    lock();
    const struct members *k = v->communicator ? members_of(v->communicator) : NULL;
    uint32_t group = k ? k->group : TPSL_COUNTS_NONE;
    uint16_t index = row_of(v->place, (uint32_t)v->function | group << 16, frame);
    if (index != NOT_COUNTED)
        add_call(&c->rows[index == WITHOUT_ROW ? TPSL_COUNTS_OTHER : index], v, took);
    if (v->outer) {
        c->inside += took;
        inside = 0;
    }
    if (v->ended - c->last_ticks > NOTED_AFTER)
        note_time(v->ended);
    if (v->function == FUNCTION_Finalize || v->function == FUNCTION_Session_finalize)
        c->ended = v->ended, note_time(v->ended);
    if (locked)
        pthread_mutex_unlock(&counting), locked = false;
}

void tpsl_count_none(bool stop) { stopped = stop; }
#endif
