/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * pmi NAME: a PMI-1 client without MPI, the same under any launcher. Every rank puts a
 * value; then barriers and everybody's gets of every value are timed by rank 0, and
 * each value is checked. With another argument there is one barrier, and nothing is timed.
 *
 *   BenchmarkPMIBarrier/by=NAME/ranks=N  one barrier
 *   BenchmarkPMIGets/by=NAME/ranks=N     N ranks get N values each, barrier included
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BARRIERS = 200, ROUNDS = 10, LINE = 1024 };

static int fd;
static char reply[LINE];

static double now(void) /* s */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
    fprintf(stderr, "pmi: %s: %s\n", what, reply);
    exit(1);
}

/* Sends a line and reads the reply, which must begin as told. */
static void call(const char *request, const char *want)
{
    size_t got = 0;
    if (write(fd, request, strlen(request)) != (ssize_t)strlen(request))
        fail("write");
    while (got == 0 || reply[got - 1] != '\n') {
        ssize_t n = read(fd, reply + got, sizeof reply - 1 - got);
        if (n <= 0)
            fail("read");
        got += (size_t)n;
    }
    reply[got - 1] = 0;
    if (strncmp(reply, want, strlen(want)) != 0)
        fail(request);
}

static void barrier(void)
{
    call("cmd=barrier_in\n", "cmd=barrier_out");
}

static void get(const char *kvs, int rank)
{
    char line[LINE], want[64], *value;
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=k%d\n", kvs, rank);
    snprintf(want, sizeof want, "value=address-of-rank-%d", rank);
    call(line, "cmd=get_result rc=0");
    value = strstr(reply, "value=");
    if (value == NULL || strcmp(value, want) != 0)
        fail(want);
}

int main(int argc, char **argv)
{
    const char *by = argc > 1 ? argv[1] : "unknown";
    int rank = atoi(getenv("PMI_RANK")), ranks = atoi(getenv("PMI_SIZE"));
    char kvs[300], line[LINE];
    double start, done, gets;

    fd = atoi(getenv("PMI_FD"));
    call("cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init");
    call("cmd=get_my_kvsname\n", "cmd=my_kvsname");
    if (sscanf(strstr(reply, "kvsname="), "kvsname=%299s", kvs) != 1)
        fail("kvsname");
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=k%d value=address-of-rank-%d\n", kvs, rank, rank);
    call(line, "cmd=put_result rc=0");
    barrier();
    if (argc > 2) {
        call("cmd=finalize\n", "cmd=finalize_ack");
        return 0;
    }

    start = now();
    for (int i = 0; i < BARRIERS; i++)
        barrier();
    done = now();
    for (int i = 0; i < ROUNDS; i++) {
        for (int peer = 0; peer < ranks; peer++)
            get(kvs, (rank + peer) % ranks);
        barrier();
    }
    gets = now();
    call("cmd=finalize\n", "cmd=finalize_ack");
    if (rank == 0) {
        printf("BenchmarkPMIBarrier/by=%s/ranks=%d 1 %.3f us/barrier\n", by, ranks, (done - start) / BARRIERS * 1e6);
        printf("BenchmarkPMIGets/by=%s/ranks=%d 1 %.3f ms/round\n", by, ranks, (gets - done) / ROUNDS * 1e3);
    }
    return 0;
}
