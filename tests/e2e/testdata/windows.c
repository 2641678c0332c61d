// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* windows SEED ROUNDS: one-sided operations on windows of all kinds. Each rank says what it has found, which is the same with every MPI.
 * With 0 rounds two ranks tell whether one of them can access the window of the other while that computes. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = 64, COUNTER = 0, FLAG = 8, OWN = 16 }; /* of a rank's part; what each rank may write of it begins at OWN */
enum { CREATED, ALLOCATED, SHARED, DYNAMIC, KINDS };
static const char *const names[KINDS] = {"created", "allocated", "shared", "dynamic"};

struct test {
    int rank, ranks, rounds;
    uint64_t random;
    MPI_Win win;
    int kind;
    long *part;
    MPI_Aint bases[16]; /* of dynamic windows */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static unsigned random_below(struct test *t, unsigned n)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(t->random >> 33) % n;
}

static MPI_Aint at(const struct test *t, int rank, int word)
{
    return t->kind == DYNAMIC ? t->bases[rank] + (MPI_Aint)sizeof(long) * word : word;
}

static void open_window(struct test *t, int kind)
{
    MPI_Aint size = WORDS * sizeof(long), own;
    t->kind = kind;
    t->part = NULL;
    if (kind == ALLOCATED)
        MPI_Win_allocate(size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &t->part, &t->win);
    else if (kind == SHARED)
        MPI_Win_allocate_shared(size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &t->part, &t->win);
    else
        t->part = malloc((size_t)size);
    if (kind == CREATED)
        MPI_Win_create(t->part, size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &t->win);
    if (kind == DYNAMIC) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &t->win);
        MPI_Win_attach(t->win, t->part, size);
        MPI_Get_address(t->part, &own);
        MPI_Allgather(&own, 1, MPI_AINT, t->bases, 1, MPI_AINT, MPI_COMM_WORLD);
    }
    memset(t->part, 0, (size_t)size);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(struct test *t)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (t->kind == DYNAMIC)
        MPI_Win_detach(t->win, t->part);
    MPI_Win_free(&t->win);
    if (t->kind == CREATED || t->kind == DYNAMIC)
        free(t->part);
}

static void wrong(const struct test *t, const char *what)
{
    fprintf(stderr, "rank %d, window %s: %s\n", t->rank, names[t->kind], what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* All ranks count one number by Get and Put under an exclusive lock. */
static void count(struct test *t)
{
    long n = 0;
    for (int i = 0; i < t->rounds; i++) {
        int target = i % t->ranks;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, t->win);
        MPI_Get(&n, 1, MPI_LONG, target, at(t, target, COUNTER), 1, MPI_LONG, t->win);
        MPI_Win_flush(target, t->win);
        n++;
        MPI_Put(&n, 1, MPI_LONG, target, at(t, target, COUNTER), 1, MPI_LONG, t->win);
        MPI_Win_unlock(target, t->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, t->win);
    if (t->part[COUNTER] != (long)t->ranks * (t->rounds / t->ranks + (t->rank < t->rounds % t->ranks)))
        wrong(t, "an exclusive lock does not exclude");
    MPI_Win_unlock(t->rank, t->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Two ranks tell each other by Put, and look by Get: one of them at least must see the other. */
static void tell_each_other(struct test *t)
{
    const long yes = 1, no = 0;
    int other = t->rank ^ 1;
    MPI_Win_lock_all(0, t->win);
    for (int i = 0; other < t->ranks && i < t->rounds; i++) {
        long seen = -1, theirs;
        MPI_Put(&no, 1, MPI_LONG, t->rank, at(t, t->rank, FLAG), 1, MPI_LONG, t->win);
        MPI_Win_flush(t->rank, t->win);
        MPI_Sendrecv(NULL, 0, MPI_BYTE, other, 0, NULL, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Put(&yes, 1, MPI_LONG, t->rank, at(t, t->rank, FLAG), 1, MPI_LONG, t->win);
        MPI_Win_flush(t->rank, t->win);
        MPI_Get(&seen, 1, MPI_LONG, other, at(t, other, FLAG), 1, MPI_LONG, t->win);
        MPI_Win_flush(other, t->win);
        MPI_Sendrecv(&seen, 1, MPI_LONG, other, 0, &theirs, 1, MPI_LONG, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!seen && !theirs)
            wrong(t, "two ranks have not seen each other's Put");
    }
    MPI_Win_unlock_all(t->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A rank looks by Get for what another one does after that has changed the first one's window. */
static void look_for(struct test *t)
{
    const long one = 1, yes = 2;
    long seen = 0;
    MPI_Win_lock_all(0, t->win);
    if (t->rank == 1) {
        MPI_Accumulate(&one, 1, MPI_LONG, 0, at(t, 0, FLAG + 1), 1, MPI_LONG, MPI_SUM, t->win);
        MPI_Win_flush(0, t->win);
        MPI_Put(&yes, 1, MPI_LONG, 1, at(t, 1, FLAG + 2), 1, MPI_LONG, t->win);
    }
    while (t->rank == 0 && seen != yes) {
        MPI_Get(&seen, 1, MPI_LONG, 1, at(t, 1, FLAG + 2), 1, MPI_LONG, t->win);
        MPI_Win_flush_local(1, t->win);
    }
    MPI_Win_unlock_all(t->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A strip of n words of a target's part, which this rank alone accesses, in rows or as every second word. */
static void random_access(struct test *t, int target, int strip, long mirror[])
{
    static const MPI_Datatype types[] = {MPI_LONG, MPI_BYTE, MPI_DOUBLE};
    long words[WORDS];
    int n = 1 + (int)random_below(t, (unsigned)strip), first = OWN + t->rank * strip + (int)random_below(t, (unsigned)(strip - n + 1)), which = (int)random_below(t, 4);
    MPI_Datatype type = which < 3 ? types[which] : MPI_LONG, vector;
    int count = type == MPI_BYTE ? n * (int)sizeof(long) : n;
    if (which == 3)
        n = (n + 1) / 2;
    MPI_Type_vector(n, 1, 2, MPI_LONG, &vector);
    MPI_Type_commit(&vector);
    for (int i = 0; i < n; i++)
        words[i] = (long)random_below(t, 1 << 30);
    switch (random_below(t, 3)) {
    case 0:
        if (which == 3)
            MPI_Put(words, n, MPI_LONG, target, at(t, target, first), 1, vector, t->win);
        else
            MPI_Put(words, count, type, target, at(t, target, first), count, type, t->win);
        for (int i = 0; i < n; i++)
            mirror[first + (which == 3 ? 2 * i : i)] = words[i];
        break;
    case 1:
        MPI_Accumulate(words, n, MPI_LONG, target, at(t, target, first), n, MPI_LONG, MPI_SUM, t->win);
        for (int i = 0; i < n; i++)
            mirror[first + i] += words[i];
        break;
    case 2:
        MPI_Get(words, n, MPI_LONG, target, at(t, target, first), n, MPI_LONG, t->win);
        MPI_Win_flush(target, t->win);
        for (int i = 0; i < n; i++)
            if (words[i] != mirror[first + i])
                wrong(t, "Get finds other words than were put");
    }
    MPI_Win_flush(target, t->win);
    MPI_Type_free(&vector);
}

static void random_accesses(struct test *t)
{
    int strip = (WORDS - OWN) / t->ranks;
    long(*mirrors)[WORDS] = calloc((size_t)t->ranks, sizeof *mirrors), one = 1, before;
    for (int i = 0; i < t->rounds; i++) {
        int target = (int)random_below(t, (unsigned)t->ranks);
        bool all = random_below(t, 2);
        if (all)
            MPI_Win_lock_all(0, t->win);
        else
            MPI_Win_lock(MPI_LOCK_SHARED, target, random_below(t, 4) ? 0 : MPI_MODE_NOCHECK, t->win);
        for (unsigned k = random_below(t, 5); k > 0; k--)
            random_access(t, target, strip, mirrors[target]);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, target, at(t, target, FLAG + 3), MPI_SUM, t->win);
        if (all)
            MPI_Win_unlock_all(t->win);
        else
            MPI_Win_unlock(target, t->win);
    }
    free(mirrors);
    MPI_Barrier(MPI_COMM_WORLD);
    long sum;
    MPI_Reduce(&t->part[FLAG + 3], &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (t->rank == 0 && sum != (long)t->ranks * t->rounds)
        wrong(t, "an MPI_Fetch_and_op is lost");
}

/* The other ways to synchronize. */
static void other_epochs(struct test *t)
{
    int next = (t->rank + 1) % t->ranks, before = (t->rank + t->ranks - 1) % t->ranks;
    long word = t->rank;
    MPI_Group all, from, to;
    MPI_Win_fence(0, t->win);
    MPI_Put(&word, 1, MPI_LONG, next, at(t, next, FLAG + 4), 1, MPI_LONG, t->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, t->win);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &before, &from);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Win_post(from, 0, t->win);
    MPI_Win_start(to, 0, t->win);
    MPI_Put(&word, 1, MPI_LONG, next, at(t, next, FLAG + 5), 1, MPI_LONG, t->win);
    MPI_Win_complete(t->win);
    MPI_Win_wait(t->win);
    if (t->part[FLAG + 4] != before || t->part[FLAG + 5] != before)
        wrong(t, "a Put has not arrived at the end of its epoch");
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Group_free(&all);
}

/* Arguments and epochs that are wrong have the library's errors. */
static void errors(struct test *t)
{
    long word = 0;
    int codes[7];
    MPI_Win_set_errhandler(t->win, MPI_ERRORS_RETURN);
    codes[0] = MPI_Put(&word, 1, MPI_LONG, t->rank, 0, 1, MPI_LONG, t->win);
    MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, t->win);
    codes[1] = MPI_Put(&word, 1, MPI_LONG, t->ranks, 0, 1, MPI_LONG, t->win);
    codes[2] = MPI_Put(&word, -1, MPI_LONG, t->rank, 0, 1, MPI_LONG, t->win);
    codes[3] = MPI_Get(&word, 1, MPI_DATATYPE_NULL, t->rank, 0, 1, MPI_LONG, t->win);
    codes[4] = MPI_Get(&word, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, t->win);
    codes[5] = MPI_Get(&word, 1, MPI_LONG, t->rank, -1, 1, MPI_LONG, t->win);
    MPI_Win_unlock(t->rank, t->win);
    codes[6] = MPI_Put(&word, 1, MPI_LONG, t->rank, 0, 1, MPI_LONG, t->win);
    for (int i = 0; i < 7; i++)
        MPI_Error_class(codes[i], &codes[i]);
    printf("rank %d: errors of a window that was %s: %d %d %d %d %d %d %d\n", t->rank, names[t->kind], codes[0], codes[1], codes[2], codes[3], codes[4], codes[5], codes[6]);
}

/* Whether rank 0 has accessed the window of rank 1 while that computes. */
static void compute(struct test *t)
{
    const double computing = 1;
    double end;
    long word = 1;
    MPI_Win_lock_all(0, t->win);
    if (t->rank == 0)
        MPI_Get(&word, 1, MPI_LONG, 1, at(t, 1, FLAG + 6), 1, MPI_LONG, t->win);
    if (t->rank == 0)
        MPI_Win_flush(1, t->win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t->rank == 1) {
        for (end = now() + computing; now() < end;)
            ;
        MPI_Send(&end, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    } else {
        word = 5;
        MPI_Put(&word, 1, MPI_LONG, 1, at(t, 1, FLAG + 6), 1, MPI_LONG, t->win);
        MPI_Win_flush(1, t->win);
        MPI_Get(&word, 1, MPI_LONG, 1, at(t, 1, FLAG + 6), 1, MPI_LONG, t->win);
        MPI_Win_flush(1, t->win);
        double found = now();
        MPI_Recv(&end, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("window that was %s, rank that computes: %s\n", names[t->kind], word == 5 && found < end ? "at once" : "later");
    }
    MPI_Win_unlock_all(t->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all(struct test *t, bool computes)
{
    for (int kind = 0; kind < KINDS; kind++) {
        open_window(t, kind);
        if (computes) {
            compute(t);
        } else {
            count(t);
            tell_each_other(t);
            look_for(t);
            random_accesses(t);
            other_epochs(t);
            if (kind != DYNAMIC)
                errors(t);
        }
        close_window(t);
    }
}

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        struct test t = {.rounds = atoi(argv[2])};
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &t.ranks);
        t.random = (uint64_t)atoi(argv[1]) * 1000003 + (uint64_t)t.rank;
        all(&t, t.rounds == 0);
        printf("rank %d of %d: all right\n", t.rank, t.ranks);
        MPI_Finalize();
    }
    return 0;
}
