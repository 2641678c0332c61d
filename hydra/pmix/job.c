// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Tells libpmix of the job: which ranks there are, and where. */
#include "helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    uint32_t app, app_rank, app_leader, node;
    uint16_t local;
} place;

static struct {
    char *space;
    uint32_t size, universe, nodes, apps, local;
    int self;                      /* our node, or -1: it is another job than that of our ranks */
    char **hosts;                  /* by node */
    char *names, *ranks, *peers;   /* all hosts; the ranks of each, and of ours */
    place *places;                 /* by rank */
    uint32_t *app_sizes, *leaders; /* by app */
} job;

static void add_node(const char *name, char *ranks)
{
    uint16_t local = 0;
    char *rest = NULL;

    job.hosts = must(realloc(job.hosts, (job.nodes + 1) * sizeof *job.hosts));
    job.hosts[job.nodes] = must(strdup(name));
    job.names = join(job.names, ',', name);
    job.ranks = join(job.ranks, ';', ranks);
    if ((int)job.nodes == job.self)
        job.peers = must(strdup(ranks));
    for (char *rank = strtok_r(ranks, ",", &rest); rank; rank = strtok_r(NULL, ",", &rest)) {
        place *p = &job.places[strtoul(rank, NULL, 10)];

        p->node = job.nodes;
        p->local = local++;
    }
    if ((int)job.nodes == job.self)
        job.local = local;
    job.nodes++;
}

static void set_apps(char *apps)
{
    char *rest = NULL, *app = strtok_r(apps, ",", &rest);

    job.app_sizes = must(calloc(job.size + 1, sizeof *job.app_sizes));
    job.leaders = must(calloc(job.size + 1, sizeof *job.leaders));
    for (uint32_t rank = 0; rank < job.size && app; rank++, app = strtok_r(NULL, ",", &rest)) {
        place *p = &job.places[rank];

        p->app = (uint32_t)strtoul(app, NULL, 10);
        p->app_rank = job.app_sizes[p->app]++;
        if (p->app_rank == 0)
            job.leaders[p->app] = rank;
        p->app_leader = job.leaders[p->app];
        if (p->app >= job.apps)
            job.apps = p->app + 1;
    }
}

/* array makes room for n facts about one thing, which info is to hold. */
static pmix_info_t *array(pmix_info_t *info, const char *key, size_t n)
{
    pmix_data_array_t *facts;

    PMIX_DATA_ARRAY_CREATE(facts, n, PMIX_INFO);
    PMIX_LOAD_KEY(info->key, key);
    info->value.type = PMIX_DATA_ARRAY;
    info->value.data.darray = facts;
    return facts->array;
}

static void load_rank(pmix_info_t *info, pmix_rank_t rank)
{
    const place *p = &job.places[rank];
    pmix_info_t *about = array(info, PMIX_PROC_DATA, 9);

    PMIX_INFO_LOAD(&about[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&about[1], PMIX_GLOBAL_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&about[2], PMIX_LOCAL_RANK, &p->local, PMIX_UINT16);
    PMIX_INFO_LOAD(&about[3], PMIX_NODE_RANK, &p->local, PMIX_UINT16);
    PMIX_INFO_LOAD(&about[4], PMIX_APPNUM, &p->app, PMIX_UINT32);
    PMIX_INFO_LOAD(&about[5], PMIX_APP_RANK, &p->app_rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&about[6], PMIX_APPLDR, &p->app_leader, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&about[7], PMIX_NODEID, &p->node, PMIX_UINT32);
    PMIX_INFO_LOAD(&about[8], PMIX_HOSTNAME, job.hosts[p->node], PMIX_STRING);
}

static void load_app(pmix_info_t *info, uint32_t app)
{
    pmix_info_t *about = array(info, PMIX_APP_INFO_ARRAY, 3);

    PMIX_INFO_LOAD(&about[0], PMIX_APPNUM, &app, PMIX_UINT32);
    PMIX_INFO_LOAD(&about[1], PMIX_APP_SIZE, &job.app_sizes[app], PMIX_UINT32);
    PMIX_INFO_LOAD(&about[2], PMIX_APPLDR, &job.leaders[app], PMIX_PROC_RANK);
}

/* load_local describes those ranks that we serve. */
static pmix_info_t *load_local(pmix_info_t *next)
{
    pmix_rank_t leader = (pmix_rank_t)strtoul(job.peers, NULL, 10);
    bool yes = true;

    PMIX_INFO_LOAD(next++, PMIX_LOCAL_SIZE, &job.local, PMIX_UINT32);
    PMIX_INFO_LOAD(next++, PMIX_NODE_SIZE, &job.local, PMIX_UINT32);
    PMIX_INFO_LOAD(next++, PMIX_LOCALLDR, &leader, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(next++, PMIX_LOCAL_PEERS, job.peers, PMIX_STRING);
    PMIX_INFO_LOAD(next++, PMIX_NSDIR, helper_folder, PMIX_STRING); /* Open MPI's own files are in it */
    PMIX_INFO_LOAD(next++, PMIX_TDIR_RMCLEAN, &yes, PMIX_BOOL);
    return next;
}

/* describe tells libpmix of the job. */
static void describe(void)
{
    const struct {
        const char *key;
        uint32_t *value;
    } counts[] = {
        {PMIX_UNIV_SIZE, &job.universe}, {PMIX_MAX_PROCS, &job.universe}, {PMIX_JOB_SIZE, &job.size},
        {PMIX_JOB_NUM_APPS, &job.apps},  {PMIX_NUM_NODES, &job.nodes},
    };
    enum { COUNTS = sizeof counts / sizeof *counts, LOCAL = 6, OTHERS = 3 };
    const size_t n = (size_t)COUNTS + LOCAL + OTHERS + job.apps + job.size;
    char *nodes, *places;
    pmix_info_t *info, *next;

    check("name the hosts", PMIx_generate_regex(job.names, &nodes));
    check("place the ranks", PMIx_generate_ppn(job.ranks, &places));
    PMIX_INFO_CREATE(info, n);
    for (next = info; next < info + COUNTS; next++)
        PMIX_INFO_LOAD(next, counts[next - info].key, counts[next - info].value, PMIX_UINT32);
    PMIX_INFO_LOAD(next++, PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(next++, PMIX_PROC_MAP, places, PMIX_REGEX);
    PMIX_INFO_LOAD(next++, PMIX_JOBID, job.space, PMIX_STRING);
    if (job.self >= 0)
        next = load_local(next);
    for (uint32_t app = 0; app < job.apps; app++)
        load_app(next++, app);
    for (uint32_t rank = 0; rank < job.size; rank++)
        load_rank(next++, rank);
    check("describe the job", PMIx_server_register_nspace(job.space, (int)job.local, info, (size_t)(next - info), NULL, NULL));
    PMIX_INFO_FREE(info, n); /* libpmix has its own copy now */
    free(nodes);
    free(places);
}

/* admit lets a rank connect and prints what it needs for that. */
static void admit(pmix_rank_t rank)
{
    pmix_proc_t client;
    char **env = NULL;

    PMIX_LOAD_PROCID(&client, helper_job, rank);
    check("admit a rank", PMIx_server_register_client(&client, getuid(), getgid(), NULL, NULL, NULL));
    check("make a rank's environment", PMIx_server_setup_fork(&client, &env));
    for (char **setting = env; setting && *setting; setting++)
        say("env %u %s", rank, *setting);
}

static void forget(void)
{
    for (uint32_t node = 0; node < job.nodes; node++)
        free(job.hosts[node]);
    free(job.hosts);
    free(job.names), free(job.ranks), free(job.peers);
    free(job.places), free(job.app_sizes), free(job.leaders);
    free(job.space);
    memset(&job, 0, sizeof job);
}

static void serve(void)
{
    describe();
    for (pmix_rank_t rank = 0; rank < job.size; rank++)
        if ((int)job.places[rank].node == job.self)
            admit(rank);
    if (job.self >= 0)
        say("ready");
    forget();
}

bool job_line(const char *verb, char *rest)
{
    if (!strcmp(verb, "job")) {
        job.space = must(strdup(word(&rest)));
        job.size = (uint32_t)strtoul(word(&rest), NULL, 10);
        job.universe = (uint32_t)strtoul(word(&rest), NULL, 10);
        job.self = atoi(word(&rest));
        job.places = must(calloc(job.size + 1, sizeof *job.places));
    } else if (!strcmp(verb, "node")) {
        const char *name = word(&rest);

        add_node(name, word(&rest));
    } else if (!strcmp(verb, "apps")) {
        set_apps(word(&rest));
    } else if (!strcmp(verb, "serve")) {
        serve();
    } else {
        return false;
    }
    return true;
}
