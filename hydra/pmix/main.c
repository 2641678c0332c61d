// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* lib/tpsl/pmix: a PMIx server for the ranks of one host, by libpmix, which mpiexec itself
 * is not linked with. A proxy of mpiexec starts it and talks with it by lines of words; what
 * is not a number or a name stands in hexadecimal digits, or is "-" if it is empty.
 *
 * Arguments: the job's name, the folder for all that libpmix makes, the host's name.
 *
 * It reads first which ranks there are: "job NAME RANKS UNIVERSE SELF"; for each host, of which it
 * is on that of index SELF, "node NAME RANK,RANK..."; "apps APP,APP..." for all ranks; "serve". It
 * is told in the same way of other jobs, whose ranks its own are to meet; SELF is -1 then.
 * It prints "env RANK NAME=VALUE" for each setting that a rank of its host needs, then "ready",
 * or "error TEXT" if it cannot serve.
 *
 * Then it prints what its ranks do: "connected RANK", "finalized RANK", "abort RANK STATUS TEXT"; and
 * what they ask for:
 *
 *   log ID RANK TEXT                       text for people
 *   fence|connect|disconnect ID WHO DATA   WHO: SPACE:RANK,SPACE:RANK..., all these ranks come together
 *   get ID SPACE RANK                      what a rank of another host has put
 *   publish ID once|keep KEY VALUE ...     lookup ID SECONDS KEY ...     unpublish ID KEY ...
 *   spawn ID app RANKS arg TEXT ... env NAME=VALUE ... wdir|host|hostfile TEXT app ...
 *
 * It reads "done ID ok|missing|exists|failed ..." in answer, and "modex TOKEN RANK", which
 * asks what a rank of its own has put, and prints "modexed TOKEN DATA".
 *
 * It ends when its standard input does, and takes the folder with it: the proxy may be gone. If it is
 * killed with the proxy, mpiexec removes the folder.
 *
 * With the arguments "abort STATUS" it is a client in place of a server: it asks the server that its
 * environment names to end the job, as the rank that its environment names. tpsl run uses this. */
#include "helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

const char *helper_job, *helper_folder, *helper_host;

/* same_libpmix makes sure that libpmix knows our tables of functions as we do. */
static void same_libpmix(void)
{
    const char *version = PMIx_Get_version();
    unsigned int major = 0;

    (void)sscanf(version, "%*[^0-9]%u", &major);
    if (major != PMIX_NUMERIC_VERSION >> 16) {
        say("error this libpmix is \"%s\", but tpsl was built for %d.x; install libpmix2 of that version or build tpsl anew",
            version, PMIX_NUMERIC_VERSION >> 16);
        leave(1);
    }
}

/* raise_limit makes room for a connection of each rank. */
static void raise_limit(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

static void start(void)
{
    pmix_info_t info[5];
    bool no = false;

    same_libpmix();
    raise_limit();
    setenv("PMIX_MCA_gds", "hash", 1);    /* no files that ranks map */
    setenv("PMIX_MCA_psec", "native", 1); /* no daemon of munge */
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, helper_folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, helper_folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_TOOL_SUPPORT, &no, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_REMOTE_CONNECTIONS, &no, PMIX_BOOL); /* it listens on loopback alone */
    PMIX_INFO_LOAD(&info[4], PMIX_HOSTNAME, helper_host, PMIX_STRING);
    check("start libpmix", PMIx_server_init(&helper_calls, info, 5));
}

/* abort_job returns the exit status of the program. */
static int abort_job(int status)
{
    pmix_proc_t self;

    return PMIx_Init(&self, NULL, 0) == PMIX_SUCCESS && PMIx_Abort(status, NULL, NULL, 0) == PMIX_SUCCESS ? 0 : 1;
}

int main(int argc, char **argv)
{
    char *line = NULL, *rest;
    size_t size = 0;

    if (argc == 3 && strcmp(argv[1], "abort") == 0)
        return abort_job(atoi(argv[2]));
    if (argc != 4) {
        fprintf(stderr, "%s: mpiexec and tpsl run start this program; there is nothing to run by hand\n", argv[0]);
        return 1;
    }
    helper_job = argv[1], helper_folder = argv[2], helper_host = argv[3];
    start();
    while (getline(&line, &size, stdin) > 0) {
        const char *verb = strtok_r(line, " \n", &rest);

        if (verb && !job_line(verb, rest))
            calls_line(verb, rest);
    }
    leave(0); /* at once: whoever ends this job sweeps */
}
