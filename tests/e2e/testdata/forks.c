// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* forks N FILE [in-handler]: rank 0 forks N times, while the others use functions of libc that take a lock of
 * the address space, until rank 0 has made FILE. Each child uses all of them, is refused a library, and must end. With in-handler a
 * signal's handler forks, while the thread sleeps in libc. */
#define WITH_SEMAPHORES
#include "facilities.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { OF_CHILDREN = FACILITIES - 1 }; /* all but dlopen, which is the last */

/* What the child is at: a page that it shares with its parent. */
static _Atomic int *at;

static int use_all(void)
{
    for (int i = 0; i < OF_CHILDREN; i++) {
        *at = i;
        facilities[i].use();
    }
    *at = OF_CHILDREN;
    exit(dlopen("libz.so.1", RTLD_NOW) || !dlerror());
}

static void fork_once(long n)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        use_all();
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        perror("fork");
        exit(2);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        printf("fork %ld: the child was at %s: status %#x\n", n, facilities[*at].name, status);
        exit(3);
    }
}
static long handled;
static void fork_in_handler(int number) { fork_once(handled++); }

static void fork_in_handlers(long forks)
{
    sigset_t alarm, none;
    sigemptyset(&none);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, NULL);
    signal(SIGALRM, fork_in_handler);
    while (handled < forks) {
        ualarm(100, 0);
        sigsuspend(&none);
    }
}

int main(int argc, char **argv)
{
    long forks = atol(argv[1]);
    int rank = atoi(getenv("PMI_RANK")), ranks = atoi(getenv("PMI_SIZE"));
    if (rank > 0) {
        for (unsigned i = (unsigned)rank; access(argv[2], F_OK) != 0; i += (unsigned)ranks - 1)
            for (int k = 0; k < 20; k++)
                facilities[i % FACILITIES].use();
        return 0;
    }
    at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc > 3)
        fork_in_handlers(forks);
    for (long n = handled; n < forks; n++)
        fork_once(n);
    printf("%ld children ended\n", forks);
    return close(creat(argv[2], 0600));
}
