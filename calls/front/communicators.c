// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The communicators of a rank, which stand on the board under ids that their members share. */
#include "front.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct tpsl_library tpsl_mpi;

static pthread_mutex_t communicators = PTHREAD_MUTEX_INITIALIZER;

static bool is_standard(void)
{
    Dl_info in;
    const char *file = dladdr((void *)tpsl_mpi.Comm_size, &in) ? strrchr(in.dli_fname, '/') : NULL;
    return file && strncmp(file, "/libmpi_abi.", strlen("/libmpi_abi.")) == 0;
}

/* An executable may have a copy of a library's variable, which the library then uses as well. */
word tpsl_variable(const char *name)
{
    Dl_info in;
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found && dladdr((void *)tpsl_mpi.Comm_size, &in)) {
        void *library = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, name) : NULL;
    }
    return (word)found;
}

void tpsl_learn_library(void)
{
    struct tpsl_library *m = &tpsl_mpi;
    m->Comm_size = tpsl_find("PMPI_Comm_size", NULL);
    m->Comm_rank = tpsl_find("PMPI_Comm_rank", NULL);
    m->Comm_test_inter = tpsl_find("PMPI_Comm_test_inter", NULL);
    m->Query_thread = tpsl_find("PMPI_Query_thread", NULL);
    m->Bcast = tpsl_find("PMPI_Bcast", NULL);
    m->world = tpsl_variable("ompi_mpi_comm_world");
    if (m->world) {
        m->self = tpsl_variable("ompi_mpi_comm_self");
        m->null = tpsl_variable("ompi_mpi_comm_null");
        m->byte = tpsl_variable("ompi_mpi_byte");
        tpsl_own->abi = TPSL_ABI_OPENMPI;
    } else if (is_standard()) {
        m->world = 0x101, m->self = 0x102, m->null = 0x100, m->byte = 0x247;
        tpsl_own->abi = TPSL_ABI_STANDARD;
    } else {
        m->world = 0x44000000, m->self = 0x44000001, m->null = 0x04000000, m->byte = 0x4c00010d;
        tpsl_own->abi = TPSL_ABI_MPICH;
    }
}

word tpsl_handle(word communicator)
{
    return tpsl_own->abi == TPSL_ABI_MPICH ? (uint32_t)communicator : communicator;
}

word tpsl_handle_at(const void *handles, int index)
{
    return tpsl_own->abi == TPSL_ABI_MPICH ? ((const uint32_t *)handles)[index] : ((const word *)handles)[index];
}

static struct tpsl_communicator *known(word communicator)
{
    for (int i = 0; i < TPSL_BOARD_COMMUNICATORS; i++)
        if (tpsl_own->communicators[i].handle == communicator)
            return &tpsl_own->communicators[i];
    return NULL;
}

bool tpsl_known_communicator(word communicator, struct tpsl_communicator *copy)
{
    pthread_mutex_lock(&communicators);
    struct tpsl_communicator *c = communicator ? known(communicator) : NULL;
    if (c) {
        copy->id = c->id, copy->size = c->size, copy->rank = c->rank;
        memcpy(copy->name, c->name, sizeof c->name);
    }
    pthread_mutex_unlock(&communicators);
    return c != NULL;
}

static void add(word communicator, uint64_t id, const char *name)
{
    struct tpsl_communicator *c;
    pthread_mutex_lock(&communicators);
    c = known(communicator);
    c = c ? c : known(0);
    if (c && tpsl_mpi.Comm_size(communicator, &c->size) == 0 && tpsl_mpi.Comm_rank(communicator, &c->rank) == 0) {
        c->id = id;
        snprintf(c->name, sizeof c->name, "%s", name);
        c->handle = communicator;
    }
    pthread_mutex_unlock(&communicators);
}

void tpsl_forget_communicator(const void *communicator)
{
    word left = tpsl_handle_at(communicator, 0);
    pthread_mutex_lock(&communicators);
    struct tpsl_communicator *c = left ? known(left) : NULL;
    if (c)
        c->handle = 0;
    pthread_mutex_unlock(&communicators);
#ifdef TPSL_PROFILE
    if (tpsl_counts)
        tpsl_forget_members(left);
#endif
}

enum { WORLD_ID = 1, FIRST_ID = 2 };

/* The first member of a new communicator names it. */
static void learn(word communicator)
{
    static _Atomic uint32_t made = FIRST_ID;
    int inter = 1, rank = 0;
    if (communicator == tpsl_mpi.null || tpsl_mpi.Comm_test_inter(communicator, &inter) != 0 || inter || tpsl_mpi.Comm_rank(communicator, &rank) != 0)
        return;
    uint64_t id = rank == 0 ? (uint64_t)(tpsl_own->rank + 1) << 32 | atomic_fetch_add(&made, 1) : 0;
    if (tpsl_mpi.Bcast(&id, sizeof id, tpsl_mpi.byte, 0, communicator) == 0)
        add(communicator, id, "");
}

void tpsl_learn_communicator(const void *communicator)
{
    if (tpsl_own->abi == TPSL_ABI_UNKNOWN)
        tpsl_learn_library();
    learn(tpsl_handle_at(communicator, 0));
}

void tpsl_learn_world(void)
{
    add(tpsl_mpi.world, WORLD_ID, "MPI_COMM_WORLD");
    add(tpsl_mpi.self, (uint64_t)(tpsl_own->rank + 1) << 32, "MPI_COMM_SELF");
}

void tpsl_name_communicator(word communicator, const char *name)
{
    pthread_mutex_lock(&communicators);
    struct tpsl_communicator *c = known(tpsl_handle(communicator));
    if (c)
        snprintf(c->name, sizeof c->name, "%s", name);
    pthread_mutex_unlock(&communicators);
#ifdef TPSL_PROFILE
    if (tpsl_counts)
        tpsl_name_members(tpsl_handle(communicator), name);
#endif
}
