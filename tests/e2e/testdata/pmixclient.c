// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * A client of PMIx without MPI. Rank 0 and the last one meet in a fence of their own, after which
 * their servers know what they have put; each rank asks for what the next one has put without a
 * fence; names are published, looked up by all and taken back, or go with the first lookup; then
 * each prints what the server says about it.
 */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_proc_t self;

static void must(const char *what, pmix_status_t status)
{
    if (status == PMIX_SUCCESS)
        return;
    fprintf(stderr, "rank %u: %s: %s\n", self.rank, what, PMIx_Error_string(status));
    exit(1);
}

/* get returns what a rank has put, or the server says about it; with is_there nobody else is asked. */
static pmix_value_t *get(pmix_rank_t rank, const char *key, bool is_there)
{
    pmix_value_t *value;
    pmix_proc_t proc;
    pmix_info_t info;

    PMIX_LOAD_PROCID(&proc, self.nspace, rank);
    PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &is_there, PMIX_BOOL);
    must(key, PMIx_Get(&proc, key, &info, is_there, &value));
    return value;
}

static unsigned number_of(const pmix_value_t *value)
{
    return value->type == PMIX_UINT16 ? value->data.uint16 : value->type == PMIX_PROC_RANK ? value->data.rank : value->data.uint32;
}

static unsigned number(pmix_rank_t rank, const char *key) { return number_of(get(rank, key, false)); }

static void put(const char *key, unsigned n)
{
    pmix_value_t value = {.type = PMIX_UINT32, .data.uint32 = n};

    must("put", PMIx_Put(PMIX_GLOBAL, key, &value));
}

static void fence(const pmix_proc_t *procs, size_t n)
{
    pmix_info_t info;
    bool yes = true;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    must("fence", PMIx_Fence(procs, n, &info, 1));
}

static pmix_status_t lookup(const char *name, char *text)
{
    pmix_pdata_t found;
    pmix_status_t status;

    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, name);
    status = PMIx_Lookup(&found, 1, NULL, 0);
    if (status == PMIX_SUCCESS)
        strcpy(text, found.value.data.string);
    return status;
}

/* short_lived publishes what the first lookup takes. */
static void short_lived(void)
{
    pmix_persistence_t once = PMIX_PERSIST_FIRST_READ;
    pmix_info_t info[2];
    char text[32];

    PMIX_INFO_LOAD(&info[0], "short-lived", "a port", PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_PERSISTENCE, &once, PMIX_PERSIST);
    must("publish", PMIx_Publish(info, 2));
    must("lookup", lookup("short-lived", text));
    if (lookup("short-lived", text) != PMIX_ERR_NOT_FOUND)
        must("second lookup", PMIX_ERROR);
}

static void names(void)
{
    char *keys[] = {"a service", NULL}, text[32] = "";
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, keys[0], "a port", PMIX_STRING);
    if (self.rank == 0)
        must("publish", PMIx_Publish(&info, 1));
    fence(NULL, 0);
    must("lookup", lookup(keys[0], text));
    if (strcmp(text, "a port") || (self.rank == 1 && PMIx_Publish(&info, 1) != PMIX_ERR_DUPLICATE_KEY))
        must("names", PMIX_ERROR);
    fence(NULL, 0);
    if (self.rank == 0)
        must("unpublish", PMIx_Unpublish(keys, NULL, 0));
    fence(NULL, 0);
    if (lookup(keys[0], text) != PMIX_ERR_NOT_FOUND)
        must("lookup of nothing", PMIX_ERROR);
    if (self.rank == 0)
        short_lived();
}

int main(void)
{
    unsigned size, next;
    pmix_proc_t ends[2];

    must("init", PMIx_Init(&self, NULL, 0));
    size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    PMIX_LOAD_PROCID(&ends[0], self.nspace, 0);
    PMIX_LOAD_PROCID(&ends[1], self.nspace, size - 1);
    put("fenced", 100 + self.rank);
    put("asked", 200 + self.rank);
    must("commit", PMIx_Commit());
    if (self.rank == 0 || self.rank == size - 1) {
        fence(ends, 2);
        if (number_of(get(size - 1 - self.rank, "fenced", true)) != 100 + size - 1 - self.rank)
            must("value of the fence", PMIX_ERROR);
    }
    next = (self.rank + 1) % size;
    if (number(next, "asked") != 200 + next)
        must("value asked for", PMIX_ERROR);
    names();
    printf("rank %u of %u: node %u of %u, %s, local %u of %u: %s; app %u of %u, rank %u of it; rank %u is on %s\n", self.rank, size,
           number(self.rank, PMIX_NODEID), number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES), get(self.rank, PMIX_HOSTNAME, false)->data.string,
           number(self.rank, PMIX_LOCAL_RANK), number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE),
           get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, false)->data.string, number(self.rank, PMIX_APPNUM),
           number(PMIX_RANK_WILDCARD, PMIX_JOB_NUM_APPS), number(self.rank, PMIX_APP_RANK), next, get(next, PMIX_HOSTNAME, false)->data.string);
    fence(NULL, 0);
    must("finalize", PMIx_Finalize(NULL, 0));
    return 0;
}
