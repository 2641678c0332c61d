// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Who drops memory: a rank itself, a thread without a rank, or a function of the program that MPI calls on a rank's thread. */
#ifndef DROPPERS_H
#define DROPPERS_H

#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>

typedef void drop_fn(void *work);

struct job {
    drop_fn *drop;
    void *work;
};

static void by_itself(struct job *j) { j->drop(j->work); }

/* One at a time: the ranks of a process ask in turn. */
static struct {
    pthread_mutex_t turn;
    sem_t asked, done;
    struct job *job;
} unbound = {.turn = PTHREAD_MUTEX_INITIALIZER};

static void *unbound_main(void *unused)
{
    for (;;) {
        sem_wait(&unbound.asked);
        unbound.job->drop(unbound.job->work);
        sem_post(&unbound.done);
    }
    return unused;
}

static void by_unbound(struct job *j)
{
    pthread_mutex_lock(&unbound.turn);
    unbound.job = j;
    sem_post(&unbound.asked);
    sem_wait(&unbound.done);
    pthread_mutex_unlock(&unbound.turn);
}

static void set_up_unbound(void)
{
    pthread_t thread;
    sem_init(&unbound.asked, 0, 0);
    sem_init(&unbound.done, 0, 0);
    pthread_create(&thread, NULL, unbound_main, NULL);
    pthread_detach(thread);
}

static int attribute_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    by_itself(value);
    return MPI_SUCCESS;
}

static void by_attribute(struct job *j)
{
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_deleted, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, j);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
}

static void operation(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)inout, (void)n, (void)type;
    by_itself(*(struct job **)in);
}

static void by_operation(struct job *j)
{
    MPI_Op op;
    struct job *out;
    MPI_Op_create(operation, 1, &op);
    MPI_Reduce_local(&j, &out, sizeof j, MPI_BYTE, op);
    MPI_Op_free(&op);
}

static int queried(void *job, MPI_Status *status)
{
    (void)job;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int freed(void *job)
{
    by_itself(job);
    return MPI_SUCCESS;
}
static int cancelled(void *job, int complete)
{
    (void)job, (void)complete;
    return MPI_SUCCESS;
}

static void by_request(struct job *j)
{
    MPI_Request r;
    MPI_Grequest_start(queried, freed, cancelled, j, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static const struct dropper {
    const char *name;
    void (*run)(struct job *);
} droppers[] = {
    {"a rank", by_itself},
    {"a thread without a rank", by_unbound},
    {"an attribute's delete function", by_attribute},
    {"an operation", by_operation},
    {"a generalised request", by_request},
};
enum { DROPPERS = sizeof droppers / sizeof *droppers };

#endif
