// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// One process with a PMI session for each rank of its set, each on a thread of its own: put, barrier, get, finalize.
// With the argument "fault" it then reports a fault of its second rank and dies of SIGSEGV.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int size;

struct rank {
    int fd, rank;
    char kvs[256];
};

static void ask(struct rank *r, const char *request, char *reply)
{
    int n = 0, got;
    if (write(r->fd, request, strlen(request)) < 0)
        exit(10);
    while (n == 0 || reply[n - 1] != '\n') {
        if ((got = read(r->fd, reply + n, 2047 - n)) < 1)
            exit(11);
        n += got;
    }
    reply[n - 1] = 0;
}

static void *run(void *arg)
{
    struct rank *r = arg;
    char request[512], reply[2048], want[64];

    ask(r, "cmd=init pmi_version=1 pmi_subversion=1\n", reply);
    ask(r, "cmd=get_my_kvsname\n", reply);
    strcpy(r->kvs, strstr(reply, "kvsname=") + 8);
    snprintf(request, sizeof request, "cmd=put kvsname=%s key=k%d value=v %d\n", r->kvs, r->rank, r->rank);
    ask(r, request, reply);
    ask(r, "cmd=barrier_in\n", reply);
    for (int i = 0; i < size && i < 64; i++) { /* of a big world some, others for each rank */
        int peer = (r->rank + i * (size > 64 ? size / 64 : 1)) % size;
        snprintf(request, sizeof request, "cmd=get kvsname=%s key=k%d\n", r->kvs, peer);
        ask(r, request, reply);
        snprintf(want, sizeof want, "value=v %d", peer);
        if (!strstr(reply, want))
            exit(12);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct rank ranks[64];
    pthread_t threads[64];
    char *fds = strdup(getenv("PMI_FD")), *names = strdup(getenv("PMI_RANK")), *at, reply[2048];
    int n = 0;

    size = atoi(getenv("PMI_SIZE"));
    for (char *fd = strtok_r(fds, ",", &at); fd; fd = strtok_r(0, ",", &at))
        ranks[n++].fd = atoi(fd);
    n = 0;
    for (char *name = strtok_r(names, ",", &at); name; name = strtok_r(0, ",", &at))
        ranks[n++].rank = atoi(name);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], 0, run, &ranks[i]);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], 0);
    printf("%d sessions from rank %d\n", n, ranks[0].rank);
    fflush(stdout);
    if (argc > 1 && !strcmp(argv[1], "fault")) {
        if (n < 2)
            sleep(60);
        dprintf(atoi(getenv("TPSL_CONTROL_FD")), "hello\nfault rank=%d signal=11\n", ranks[1].rank);
        raise(SIGSEGV);
    }
    for (int i = 0; i < n; i++)
        ask(&ranks[i], "cmd=finalize\n", reply);
    return 0;
}
