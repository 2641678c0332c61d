// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* die [aborts|rank|other]: two processes that share the memory end by an error, one after the other. PMI gets a line of a
 * job that aborts, or of the rank whose error the first one is. The other rank has no session of PMI. */
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void abort_otherwise(const struct tpsl_rank *rank, int code)
{
    printf("rank %d asks for the end of the job with %d\n", rank->number, code);
    fflush(stdout);
}

static int first(void *rank)
{
    if (rank)
        tpsl_die_as(rank, 3, abort_otherwise, "%s error", "the first");
    tpsl_die(3, "rank %d: the first error", 0);
}

int main(int argc, char **argv)
{
    static char stack[1 << 16] __attribute__((aligned(16)));
    int pmi[2], status;
    struct tpsl_rank ranks[2] = {{.pmi = {.fd = -1}}};
    const char *how = argc > 1 ? argv[1] : "";
    struct tpsl_job job = {.ranks = ranks, .nranks = 2, .aborts = strcmp(how, "aborts") == 0};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pmi) != 0)
        return 1;
    tpsl_wire_open(&ranks[1].pmi, pmi[1]);
    tpsl_job_add(&job);
    pid_t child = clone(first, stack + sizeof stack, CLONE_VM | SIGCHLD, strcmp(how, "rank") == 0 ? &ranks[1] : strcmp(how, "other") == 0 ? &ranks[0] : NULL);
    if (waitpid(child, &status, 0) != child)
        return 1;
    char text[128];
    ssize_t n = recv(pmi[0], text, sizeof text - 1, MSG_DONTWAIT);
    text[n > 0 ? n : 0] = 0;
    printf("it ended with %d; PMI heard \"%s\"\n", WEXITSTATUS(status), text);
    tpsl_die(4, "%s", "the second error");
}
