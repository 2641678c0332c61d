/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The census: where a reader outside the process finds the jobs, their ranks and what is theirs.
 * The reader is pagetables/census.go, the twin of this file; it finds the census by the note of
 * census.c.
 *
 * Nothing is kept twice: the census says where in the process's own structures the answers
 * stand. They change while they are read. A reader checks what it gets, takes each chain to be
 * endless, and begins again when `published`, `withdrawn` or `moves` moved meanwhile.
 */
#ifndef TPSL_CENSUS_H
#define TPSL_CENSUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tpsl_instance;

/* A field of all ranks of a job: where the first rank's is, and how far the next one's. */
struct tpsl_column {
    uint64_t first, stride;
};

/* Another meaning of a field of the two structs, or another order: another type of the note. */
struct tpsl_census_job {
    struct tpsl_census_job *next;   /* of another job */
    uint64_t number;                /* of the call of TPSL_Run that it is, from 1; 0: it is the process's own job */
    uint64_t ranks;                 /* how many */
    struct tpsl_column rank;        /* int: number in the world */
    struct tpsl_column thread;      /* int: thread, of private mode process; 0: none yet */
    struct tpsl_column owner;       /* pointer to the rank's instance; NULL: none yet */
};

struct tpsl_census {
    _Atomic uint64_t size;          /* of this struct: later versions append; stored last */
    uint64_t objects;               /* address of the pointer to the first; each begins with a link_map, whose l_next leads on */
    uint64_t instance, start, end;  /* offsets in an object: its instance, the pages that it spans */
    uint64_t home;                  /* offset in an instance of its struct tpsl_home (loader.h) */
    uint64_t once;                  /* the instance of what is placed once */
    uint64_t published, withdrawn;  /* addresses of counters of objects */
    uint64_t process;               /* its id; a child that it forks is not the one that is described */
    uint64_t jobs;                  /* address of the pointer to the first job */
    uint64_t moves;                 /* address of the counter of jobs that came and went */
};

/* Says who the ranks of a job are, until they are removed. */
void tpsl_census_add(struct tpsl_census_job *);
/* Before anything goes from memory that the job's entry leads to: instances, their owners, the entry itself. */
void tpsl_census_remove(struct tpsl_census_job *);
/* The calling thread is the instance's. `first`: it runs on the stack that the kernel made. */
void tpsl_census_thread(struct tpsl_instance *, bool first);

#endif
