// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * teams MEMBERS N [LED]: threads are members of a team (tpsl/team.h) without MPI. They make N operations of all kinds in one order, and
 * rest at places drawn by chance. With LED they are part of a hierarchy. Prints how many answers were wrong.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "team.h"

enum { BYTES = 200000 };

static struct tpsl_team *team;
static long operations;
static _Atomic long wrong;
static _Atomic int next_rank;
static struct tpsl_hierarchy *hierarchy; /* only looked at, never into */

static void rest(void *state) { sched_yield(); }

static void differs(struct tpsl_seat *s, int member, uint64_t call)
{
    printf("members %d and %d differ in operation %llu\n", s->rank, member, (unsigned long long)s->operation);
    exit(1);
}

static int sum_posts(struct tpsl_seat *s, void *to, const void *data)
{
    long sum = 0;
    for (int i = 0; i < s->team->size; i++)
        sum += *(const long *)tpsl_team_read(s, i);
    *(long *)to = sum;
    return 0;
}

/* All post, and none reads before it knows that all take part. One member may abstain. */
static void take_part(struct tpsl_seat *s, int who, bool abstains, long operation)
{
    *(long *)tpsl_team_post(s) = operation;
    if (abstains && s->rank == who)
        tpsl_team_abstain(s);
    else
        tpsl_team_publish(s);
    if (operation % 2) {
        long sum = -1;
        wrong += tpsl_team_meet(s, sum_posts, NULL, &sum, sizeof sum) != (abstains ? -1 : 0);
        wrong += sum != (abstains ? -1 : operation * s->team->size);
        return;
    }
    wrong += tpsl_team_all_take_part(s) == abstains;
    for (int i = 0; i < s->team->size; i++) {
        const long *post = tpsl_team_read(s, i);
        wrong += abstains && i == who ? post != NULL : *post != operation;
    }
}

/* Each member's number, added up. */
static void meet(struct tpsl_seat *s, long operation)
{
    long sum = -1, n = s->team->size;
    *(long *)tpsl_team_post(s) = operation + s->rank;
    tpsl_team_publish(s);
    tpsl_team_meet(s, sum_posts, NULL, &sum, sizeof sum);
    wrong += sum != n * operation + n * (n - 1) / 2;
}

/* The same for one member and the first one: in a hierarchy the others need not wait. */
static void meet_for(struct tpsl_seat *s, int root, long operation)
{
    if (s->rank == 0 || s->rank == root || !s->hierarchy)
        meet(s, operation);
    else {
        *(long *)tpsl_team_post(s) = operation + s->rank;
        tpsl_team_publish(s);
    }
}

/* From one member to the others, which are not waited for. */
static void tell(struct tpsl_seat *s, int root, long operation)
{
    if (s->rank == root) {
        *(long *)tpsl_team_post(s) = operation;
        tpsl_team_publish(s);
    } else
        wrong += *(const long *)tpsl_team_read(s, root) != operation;
}

/* Much from one member to the others, with its help. */
static void copy(struct tpsl_seat *s, int root, long operation, unsigned char *mine)
{
    memset(mine, s->rank == root ? (int)(operation & 0xff) : 0, BYTES);
    if (s->rank == root) {
        *(unsigned char **)tpsl_team_post(s) = mine;
        tpsl_team_publish(s);
        for (int i = 0; i < s->team->size; i++)
            if (i != root)
                tpsl_team_copy(s, i, *(unsigned char *const *)tpsl_team_read(s, i), mine, BYTES);
        for (int i = 0; i < s->team->size; i++)
            if (i != root)
                tpsl_team_await(s, i);
        return;
    }
    const unsigned char *from = *(unsigned char *const *)tpsl_team_read(s, root);
    *(unsigned char **)tpsl_team_post(s) = mine;
    tpsl_team_open_parts(s);
    tpsl_team_publish(s);
    tpsl_team_copy(s, s->rank, mine, from, BYTES);
    for (int i = 0; i < BYTES; i += 997)
        wrong += mine[i] != (operation & 0xff);
    wrong += mine[BYTES - 1] != (operation & 0xff);
}

static void *member(void *data)
{
    struct tpsl_seat *s = calloc(1, sizeof *s);
    unsigned char *mine = malloc(BYTES);
    unsigned int own, common = 1;
    int kind = 0, root = 0;

    *s = (struct tpsl_seat){.team = team, .rank = next_rank++, .crowded = next_rank % 2, .progress = rest, .hierarchy = hierarchy, .differs = differs};
    own = (unsigned int)s->rank;
    for (long i = 1; i <= operations; i++) {
        if (rand_r(&common) % 16 == 0) { /* until then one root may run far ahead */
            kind = rand_r(&common) % 10;
            root = rand_r(&common) % s->team->size;
        }
        if (rand_r(&own) % 16 == 0)
            sched_yield();
        tpsl_team_begin(s, (uint64_t)kind);
        if (kind == 0)
            copy(s, root, i, mine);
        else if (kind < 3)
            meet(s, i);
        else if (kind == 3)
            meet_for(s, root, i);
        else if (kind < 8)
            tell(s, root, i);
        else
            take_part(s, root, kind == 9, i);
        tpsl_team_end(s);
        if (kind == 8)
            tpsl_team_await_all(s);
    }
    free(mine);
    tpsl_seat_leave(s);
    return NULL;
}

int main(int argc, char **argv)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    int members = atoi(argv[1]);

    operations = atol(argv[2]);
    team = tpsl_team_make(members);
    hierarchy = argc > 3 ? (struct tpsl_hierarchy *)team : NULL;
    for (int i = 0; i < members && i < MOST; i++)
        pthread_create(&threads[i], NULL, member, NULL);
    for (int i = 0; i < members && i < MOST; i++)
        pthread_join(threads[i], NULL);
    printf("%ld wrong\n", wrong);
    return 0;
}
