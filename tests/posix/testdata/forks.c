// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Handlers of fork, and what a child may do. */
#include "posix.h"

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <wchar.h>
#include <wordexp.h>

static int status_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void before_1(void) { printf("before 1, "); }
static void before_2(void) { printf("before 2, "); }
static void parent_1(void) { printf("parent 1, "); }
static void parent_2(void) { printf("parent 2\n"); }
static void child_1(void) { printf("child 1, "); }
static void child_2(void) { printf("child 2\n"); }

static void handlers(void)
{
    OK(pthread_atfork(before_1, parent_1, child_1));
    if (rank % 2 == 0)
        OK(pthread_atfork(before_2, parent_2, child_2));
    pid_t child = fork();
    if (child == 0) {
        SAY("child");
        exit(3);
    }
    int status = status_of(child);
    SAY("parent %d", status);
    fflush(stdout);
    child = _Fork(); /* which calls none */
    if (child == 0)
        _exit(4);
    SAY("%d", status_of(child));
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void take(void) { pthread_mutex_lock(&lock); }
static void give(void) { pthread_mutex_unlock(&lock); }
static atomic_int stop;

static void *use(void *unused)
{
    while (!stop) {
        take();
        give();
    }
    return NULL;
}

/* As libraries guard their state: the child finds the lock free. */
static void guarded(void)
{
    pthread_t thread;
    OK(pthread_atfork(take, give, give));
    OK(pthread_create(&thread, NULL, use, NULL));
    int sum = 0;
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            take();
            _exit(1);
        }
        sum += status_of(child);
    }
    stop = 1;
    OK(pthread_join(thread, NULL));
    SAY("%d", sum);
}

static void *nothing(void *argument) { return argument; }

/* Much of libc, threads among it. */
static void in_child(void)
{
    for (int i = 0; i < 5; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            time_t now = 0;
            setenv("TZ", "UTC", 1);
            setlocale(LC_ALL, "C.UTF-8");
            use_heap(100000);
            OK(pthread_create(&thread, NULL, nothing, NULL));
            OK(pthread_join(thread, NULL));
            char *line = strdup(ctime(&now));
            line[strlen(line) - 1] = 0;
            SAY("%s %s, sees %d", line, getenv("TZ"), dlsym(RTLD_DEFAULT, "printf") != NULL);
            pid_t grandchild = fork();
            if (grandchild == 0)
                exit(9);
            exit(status_of(grandchild));
        }
        SAY("%d", status_of(child));
    }
}

/* The daemon goes on where nobody waits for it, and says so in a file. */
static void daemons(void)
{
    int ends[2];
    char answer = 0;
    OK(pipe(ends));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        OK(daemon(1, 0));
        close(ends[0]);
        FILE *f = fopen(path_of("daemon"), "w");
        fprintf(f, "leads its session %d\n", getsid(0) == getpid());
        fclose(f);
        (void)!write(ends[1], "d", 1);
        exit(0);
    }
    close(ends[1]);
    OK(read(ends[0], &answer, 1) != 1);
    SAY("%d %c", status_of(child), answer);
}

static void terminals(void)
{
    int terminal;
    char text[64] = "";
    fflush(stdout);
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child < 0) {
        SAY("forkpty: %m");
        return;
    }
    if (child == 0) {
        dprintf(1, "on a terminal %d", isatty(0));
        _exit(2);
    }
    ssize_t n = read(terminal, text, sizeof text - 1);
    SAY("%zd %s", n, text);
    SAY("%d", status_of(child));
}

static int in_clone(void *argument)
{
    *(int *)argument = 5;
    _exit(6);
}

static void clones(void)
{
    static char stack[64 << 10] __attribute__((aligned(16)));
    int shared = 0;
    pid_t child = clone(in_clone, stack + sizeof stack, SIGCHLD, &shared);
    SAY("%d %d", status_of(child), shared);
    child = clone(in_clone, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &shared);
    SAY("%d %d", status_of(child), shared);
}

static void *look_up(void *unused)
{
    while (!stop)
        dlclose(dlopen("libm.so.6", RTLD_NOW));
    return NULL;
}

/* The child needs a lock that threads of other ranks often have. */
static void by_system_call(void)
{
    pthread_t thread;
    if (rank % 2 != 0)
        OK(pthread_create(&thread, NULL, look_up, NULL));
    int sum = 0;
    for (int i = 0; rank % 2 == 0 && i < 50; i++) {
        pid_t child = (pid_t)(i % 2 ? syscall(SYS_fork) : syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
        if (child == 0)
            _exit(dlsym(RTLD_DEFAULT, "printf") != NULL);
        sum += status_of(child);
    }
    SAY("%d", sum);
    step();
    stop = 1;
    if (rank % 2 != 0)
        OK(pthread_join(thread, NULL));
}

static void *use_streams(void *unused)
{
    FILE *null = fopen("/dev/null", "w");
    while (!stop) {
        fputs("text", null);
        fflush(NULL);
    }
    return NULL;
}

static void *start_shells(void *unused)
{
    while (!stop)
        OK(pclose(popen("exit 0", "r")));
    return NULL;
}

/* The child finds free what other threads of its rank have locked for a moment. */
static void while_streams_are_used(void)
{
    pthread_t threads[2];
    fflush(stdout);
    OK(pthread_create(&threads[0], NULL, use_streams, NULL));
    OK(pthread_create(&threads[1], NULL, start_shells, NULL));
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child == 0)
            exit(fclose(fopen(path_of("file"), "w")) == 0);
        sum += status_of(child);
    }
    stop = 1;
    OK(pthread_join(threads[0], NULL));
    OK(pthread_join(threads[1], NULL));
    SAY("%d", sum);
}

static void *open_converted(void *unused)
{
    while (!stop) {
        fclose(fopen("/dev/null", "w,ccs=UTF-8"));
        fclose(open_wmemstream(&(wchar_t *){NULL}, &(size_t){0}));
    }
    return NULL;
}

/* A fork waits for a thread that opens a wide stream no longer than that takes. */
static void while_streams_are_opened(void)
{
    pthread_t thread;
    struct timespec before, after;
    int slow = 0; /* one or two may be slow by chance, on a busy machine */
    OK(pthread_create(&thread, NULL, open_converted, NULL));
    for (int i = 0; i < 200 && slow < 3; i++) {
        clock_gettime(CLOCK_MONOTONIC, &before);
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        clock_gettime(CLOCK_MONOTONIC, &after);
        slow += after.tv_sec - before.tv_sec > 3;
        status_of(child);
    }
    stop = 1;
    OK(pthread_join(thread, NULL));
    SAY("%d", slow < 3);
}

static void fork_here(int number)
{
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    dprintf(STDOUT_FILENO, "%d\n", status_of(child));
}

/* The command sends a signal to the rank, which waits for the command. */
static void in_wordexp(void)
{
    wordexp_t words;
    signal(SIGUSR1, fork_here);
    for (int turn = 0; turn < atoi(getenv("PMI_SIZE")); turn++) {
        if (turn == rank)
            OK(wordexp("$(kill -USR1 $PPID; sleep 0.1; echo word)", &words, 0));
        step();
    }
    SAY("%s", words.we_wordv[0]);
}

const struct program programs[] = {
    PROGRAM(handlers), PROGRAM(guarded), PROGRAM(in_child), PROGRAM(daemons), PROGRAM(terminals), PROGRAM(clones), PROGRAM(by_system_call),
    PROGRAM(while_streams_are_used), PROGRAM(while_streams_are_opened), PROGRAM(in_wordexp), {NULL, NULL},
};
