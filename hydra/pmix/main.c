// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* lib/tpsl/pmix: a PMIx server for the ranks of one host, by libpmix, which mpiexec itself
 * is not linked with. A proxy of mpiexec starts it and talks with it by lines.
 *
 * Arguments: the job's name, the folder for all that libpmix makes, the number of ranks.
 * It prints "env RANK NAME=VALUE" for each setting that a rank needs, then "ready", and then
 * what the ranks do: "connected RANK", "finalized RANK", "abort RANK STATUS TEXT". If it
 * cannot serve it prints "error TEXT". It ends when its standard input does, and takes the
 * folder with it: the proxy may be gone. If it is killed with the proxy, mpiexec removes the folder. */
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

static const char *folder;

/* say prints one line. The thread of libpmix has lines to say, too. */
__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    va_list values;

    va_start(values, format);
    pthread_mutex_lock(&one_at_a_time);
    vprintf(format, values);
    putchar('\n');
    fflush(stdout);
    pthread_mutex_unlock(&one_at_a_time);
    va_end(values);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)remove(path); /* somebody else may have been faster */
    return 0;
}

static _Noreturn void leave(int status)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    _exit(status);
}

static void check(const char *what, pmix_status_t status)
{
    if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED)
        return;
    say("error %s: %s", what, PMIx_Error_string(status));
    leave(1);
}

/* The callbacks of libpmix. A client waits for the answer to each, and the line is out
 * before that: the rank cannot end before it was told. */

static pmix_status_t connected(const pmix_proc_t *client, void *object, pmix_info_t info[], size_t n, pmix_op_cbfunc_t done, void *data)
{
    say("connected %u", client->rank);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t finalized(const pmix_proc_t *client, void *object, pmix_op_cbfunc_t done, void *data)
{
    say("finalized %u", client->rank);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Whomever the client names, the job ends: that is what MPI libraries want of it. */
static pmix_status_t aborted(const pmix_proc_t *client, void *object, int status, const char text[], pmix_proc_t procs[], size_t n,
                             pmix_op_cbfunc_t done, void *data)
{
    const char *end = text ? strpbrk(text, "\r\n") : NULL;

    say("abort %u %d %.*s", client->rank, status, end ? (int)(end - text) : -1, text ? text : "");
    return PMIX_OPERATION_SUCCEEDED;
}

/* All ranks are here, so what these put is what everybody put. */
static pmix_status_t fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo, char *blob, size_t size,
                           pmix_modex_cbfunc_t done, void *data)
{
    if (done)
        done(PMIX_SUCCESS, blob, size, data, free, blob);
    return PMIX_SUCCESS;
}

static pmix_server_module_t callbacks = {
    .client_connected2 = connected,
    .client_finalized = finalized,
    .abort = aborted,
    .fence_nb = fence,
};

static void start(void)
{
    pmix_info_t info[4];
    bool no = false;

    setenv("PMIX_MCA_gds", "hash", 1);    /* no files that ranks map */
    setenv("PMIX_MCA_psec", "native", 1); /* no daemon of munge */
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_TOOL_SUPPORT, &no, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_REMOTE_CONNECTIONS, &no, PMIX_BOOL); /* it listens on loopback alone */
    check("start libpmix", PMIx_server_init(&callbacks, info, 4));
}

/* text lists the ranks as libpmix wants them: "0,1,2". */
static char *list_ranks(int size)
{
    size_t length = 0;
    char *text = malloc((size_t)size * 12 + 1);

    if (!text)
        check("list the ranks", PMIX_ERR_NOMEM);
    for (int rank = 0; rank < size; rank++)
        length += (size_t)sprintf(text + length, rank ? ",%d" : "%d", rank);
    return text;
}

/* load_rank describes one rank of the job. */
static void load_rank(pmix_info_t *info, int rank, const char *host)
{
    pmix_rank_t id = (pmix_rank_t)rank;
    uint16_t local = (uint16_t)rank;
    uint32_t zero = 0;
    pmix_data_array_t *array;
    pmix_info_t *about;

    PMIX_DATA_ARRAY_CREATE(array, 6, PMIX_INFO);
    about = array->array;
    PMIX_INFO_LOAD(&about[0], PMIX_RANK, &id, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&about[1], PMIX_LOCAL_RANK, &local, PMIX_UINT16);
    PMIX_INFO_LOAD(&about[2], PMIX_NODE_RANK, &local, PMIX_UINT16);
    PMIX_INFO_LOAD(&about[3], PMIX_APPNUM, &zero, PMIX_UINT32);
    PMIX_INFO_LOAD(&about[4], PMIX_NODEID, &zero, PMIX_UINT32);
    PMIX_INFO_LOAD(&about[5], PMIX_HOSTNAME, host, PMIX_STRING);
    PMIX_LOAD_KEY(info->key, PMIX_PROC_DATA);
    info->value.type = PMIX_DATA_ARRAY;
    info->value.data.darray = array;
}

/* describe tells libpmix of the job. */
static void describe(const char *job, int size)
{
    static const char *const sizes[] = {PMIX_UNIV_SIZE, PMIX_JOB_SIZE, PMIX_LOCAL_SIZE, PMIX_NODE_SIZE, PMIX_MAX_PROCS};
    enum { SIZES = sizeof sizes / sizeof *sizes, OTHERS = 6 };
    uint32_t count = (uint32_t)size;
    bool yes = true;
    char host[256] = "", *ranks = list_ranks(size), *nodes, *places;
    pmix_info_t *info, *next;

    (void)gethostname(host, sizeof host - 1); /* as libpmix asks for it */
    check("name the host", PMIx_generate_regex(host, &nodes));
    check("place the ranks", PMIx_generate_ppn(ranks, &places));
    PMIX_INFO_CREATE(info, (size_t)(SIZES + OTHERS + size));
    for (next = info; next < info + SIZES; next++)
        PMIX_INFO_LOAD(next, sizes[next - info], &count, PMIX_UINT32);
    PMIX_INFO_LOAD(next++, PMIX_LOCAL_PEERS, ranks, PMIX_STRING);
    PMIX_INFO_LOAD(next++, PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(next++, PMIX_PROC_MAP, places, PMIX_REGEX);
    PMIX_INFO_LOAD(next++, PMIX_JOBID, job, PMIX_STRING);
    PMIX_INFO_LOAD(next++, PMIX_NSDIR, folder, PMIX_STRING); /* Open MPI's own files are in it */
    PMIX_INFO_LOAD(next++, PMIX_TDIR_RMCLEAN, &yes, PMIX_BOOL);
    for (int rank = 0; rank < size; rank++)
        load_rank(next++, rank, host);
    check("describe the job", PMIx_server_register_nspace(job, size, info, (size_t)(next - info), NULL, NULL));
}

/* admit lets a rank connect and prints what it needs for that. */
static void admit(const char *job, int rank)
{
    pmix_proc_t client;
    char **env = NULL;

    PMIX_LOAD_PROCID(&client, job, (pmix_rank_t)rank);
    check("admit a rank", PMIx_server_register_client(&client, getuid(), getgid(), NULL, NULL, NULL));
    check("make a rank's environment", PMIx_server_setup_fork(&client, &env));
    for (char **setting = env; setting && *setting; setting++)
        say("env %d %s", rank, *setting);
}

int main(int argc, char **argv)
{
    char byte;
    int size;

    if (argc != 4 || (size = atoi(argv[3])) < 1) {
        fprintf(stderr, "%s: mpiexec starts this program; there is nothing to run by hand\n", argv[0]);
        return 1;
    }
    folder = argv[2];
    start();
    describe(argv[1], size);
    for (int rank = 0; rank < size; rank++)
        admit(argv[1], rank);
    say("ready");
    while (read(STDIN_FILENO, &byte, 1) > 0 || errno == EINTR)
        errno = 0;
    leave(0); /* at once: whoever ends this job sweeps */
}
