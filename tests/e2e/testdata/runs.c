/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

/* runs WHAT: a program that is no MPI program and calls TPSL_Run. */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(int right, const char *what)
{
    if (!right) {
        printf("wrong: %s\n", what);
        fflush(stdout);
        _exit(9);
    }
}
#define EXPECT(condition) expect(condition, #condition)

static int rank_of(void) { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); return r; }
static int size_of(void) { int n; MPI_Comm_size(MPI_COMM_WORLD, &n); return n; }

/* ---- values ---- */

static int add(void *argument)
{
    int rank = rank_of(), sum, n = size_of(), initialized, *base = argument;
    MPI_Initialized(&initialized);
    EXPECT(initialized && TPSL_Slot() == rank && TPSL_Local_size() == n && TPSL_Rank_of(n) == -1 && TPSL_Same_process(n - 1));
    int mine = *base + rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == n * *base + n * (n - 1) / 2);
    return 0;
}

static int result_is_rank(void *argument) { return rank_of() == *(int *)argument ? 5 : 0; }
static int two_results(void *argument) { return rank_of() == 0 ? -5 : 4; }
static int finalizes_itself(void *argument) { return MPI_Finalize() || TPSL_Slot() < 0; }

static int asks_level(void *argument)
{
    int level;
    MPI_Query_thread(&level);
    return level == *(int *)argument ? 0 : 1;
}

static int is_callers(void *argument)
{
    return rank_of() == 0 ? !pthread_equal(pthread_self(), *(pthread_t *)argument) : pthread_equal(pthread_self(), *(pthread_t *)argument);
}

static int is_pinned(void *argument)
{
    cpu_set_t now;
    sched_getaffinity(0, sizeof now, &now);
    return CPU_COUNT(&now) == 1 && CPU_ISSET(((int *)argument)[rank_of()], &now) ? 0 : 1;
}

static int has_stack(void *argument)
{
    pthread_attr_t a;
    size_t size;
    pthread_getattr_np(pthread_self(), &a);
    pthread_attr_getstacksize(&a, &size);
    pthread_attr_destroy(&a);
    return size == *(size_t *)argument ? 0 : 1;
}

static int acts_for_another(void *outside_mpi)
{
    pthread_barrier_wait(outside_mpi);
    int before = TPSL_Switch(!TPSL_Slot());
    pthread_barrier_wait(outside_mpi);
    return before != TPSL_Slot() ? 0 : 1; /* and does not switch back */
}

static void *run_four(void *base)
{
    EXPECT(TPSL_Run(4, add, base, NULL) == 0);
    return NULL;
}

/* A child runs ranks that its parent, which has run some, does not. */
static int in_child(void)
{
    int base = 10, status;
    EXPECT(TPSL_Run(2, add, &base, NULL) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(TPSL_Run(2, add, &base, NULL) + 10);
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void values(void)
{
    int base = 10, one = 1, level = MPI_THREAD_MULTIPLE, cpus[2] = {0, 0};
    size_t stack = 256 << 10;
    char list[40];
    pthread_t other, self = pthread_self();
    pthread_barrier_t outside_mpi;
    cpu_set_t before, after;
    sched_getaffinity(0, sizeof before, &before);
    for (int n = 1; n <= 4; n++)
        EXPECT(TPSL_Run(n, add, &base, NULL) == 0);
    EXPECT(TPSL_Run(2, add, &base, NULL) == 0);
    EXPECT(pthread_create(&other, NULL, run_four, &base) == 0 && pthread_join(other, NULL) == 0);
    EXPECT(TPSL_Slot() == -1);
    EXPECT(TPSL_Run(3, result_is_rank, &one, NULL) == 5);
    EXPECT(TPSL_Run(2, two_results, NULL, NULL) == -5);
    EXPECT(TPSL_Run(2, finalizes_itself, NULL, NULL) == 0);
    pthread_barrier_init(&outside_mpi, NULL, 2);
    EXPECT(TPSL_Run(2, acts_for_another, &outside_mpi, NULL) == 0);
    EXPECT(TPSL_Run(2, asks_level, &level, &(struct TPSL_Options){.size = sizeof(struct TPSL_Options), .thread_level = level}) == 0);
    EXPECT(TPSL_Run(3, is_callers, &self, &(struct TPSL_Options){.size = sizeof(struct TPSL_Options), .caller = 1}) == 0);
    EXPECT(TPSL_Run(2, add, &base, &(struct TPSL_Options){.size = sizeof(struct TPSL_Options), .stack = 1}) == 0);
    EXPECT(TPSL_Run(2, has_stack, &stack, &(struct TPSL_Options){.size = sizeof(struct TPSL_Options), .stack = stack}) == 0);
    for (int cpu = 0, n = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
        if (CPU_ISSET(cpu, &before))
            cpus[n++] = cpu;
    snprintf(list, sizeof list, "%d;%d", cpus[0], cpus[1]);
    EXPECT(TPSL_Run(2, is_pinned, cpus, &(struct TPSL_Options){.size = sizeof(struct TPSL_Options), .caller = 1, .cpus = list}) == 0);
    sched_getaffinity(0, sizeof after, &after);
    EXPECT(CPU_EQUAL(&before, &after));
    EXPECT(TPSL_Slot() == -1);
    puts("values are right");
}

/* ---- two at once ---- */

struct traffic {
    int job, messages, ranks;
};

/* Each message has the job and its number in it; ranks send round, with two kinds of requests. */
static int ring(void *argument)
{
    const struct traffic *t = argument;
    int rank = rank_of(), n = size_of(), sum;
    EXPECT(n == t->ranks);
    for (int i = 0; i < t->messages; i++) {
        int to = (rank + 1) % n, from = (rank + n - 1) % n, out[3] = {t->job, rank, i}, in[3];
        MPI_Request request;
        MPI_Isend(out, 3, MPI_INT, to, i % 100, MPI_COMM_WORLD, &request);
        MPI_Recv(in, 3, MPI_INT, i % 2 ? MPI_ANY_SOURCE : from, i % 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(in[0] == t->job && in[1] == from && in[2] == i);
        if (i % 1000 == 0) {
            MPI_Allreduce(&t->job, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            EXPECT(sum == n * t->job);
        }
    }
    return 0;
}

static void *run_ring(void *traffic)
{
    EXPECT(TPSL_Run(((struct traffic *)traffic)->ranks, ring, traffic, NULL) == 0);
    return NULL;
}

static void at_once(int messages)
{
    struct traffic jobs[2] = {{1000, messages, 2}, {2000000, messages, 3}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        EXPECT(pthread_create(&threads[i], NULL, run_ring, &jobs[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("two jobs passed %d messages a rank each\n", messages);
}

/* ---- many ---- */

static long entries(const char *folder)
{
    long n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

static long lines(const char *file)
{
    long n = 0;
    FILE *f = fopen(file, "r");
    for (int c; (c = getc(f)) != EOF;)
        n += c == '\n';
    fclose(f);
    return n;
}

static long resident(void)
{
    long kb = 0;
    char line[200];
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "Private_Dirty: %ld kB", &kb) == 1)
            break;
    fclose(f);
    return kb;
}

struct state {
    long files, maps, threads, shm, kb;
};

static struct state look(void)
{
    return (struct state){entries("/proc/self/fd"), lines("/proc/self/maps"), entries("/proc/self/task"), entries("/dev/shm"), resident()};
}

/* What stays of each rank and job, after the first jobs. */
static void many(int jobs)
{
    int base = 3;
    enum { FIRST = 50, RANKS = 2 };
    struct state before = {0}, after;
    for (int i = 0; i < FIRST + jobs; i++) {
        if (i == FIRST)
            before = look();
        EXPECT(TPSL_Run(RANKS, add, &base, NULL) == 0);
    }
    after = look();
    printf("jobs %d files %ld maps %ld threads %ld shm %ld kB %ld bytes %ld\n", jobs, after.files - before.files, after.maps - before.maps,
           after.threads - before.threads, after.shm - before.shm, after.kb - before.kb, (after.kb - before.kb) * 1024 / (jobs * RANKS));
}

/* ---- what is wrong ---- */

static int ends_thread(void *argument) { if (rank_of() == 1) pthread_exit(NULL); return 0; }
static int exits(void *argument) { if (rank_of() == 1) exit(3); MPI_Barrier(MPI_COMM_WORLD); return 0; }
static int aborts(void *argument) { if (rank_of() == 1) MPI_Abort(MPI_COMM_WORLD, 7); MPI_Barrier(MPI_COMM_WORLD); return 0; }
static int crashes(void *argument) { if (rank_of() == 1) *(volatile int *)16 = 1; MPI_Barrier(MPI_COMM_WORLD); return 0; }
/* Returns 10 more than the exit status of a child of rank 1, which leaves the function by end, or by return if end is NULL. */
static int forks(void (*end)(void *))
{
    int status = 0;
    if (rank_of() == 1) {
        pid_t child = fork();
        if (child == 0) {
            if (end)
                end(NULL);
            return 0;
        }
        EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status));
    }
    EXPECT(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    return 10 + WEXITSTATUS(status);
}
static int child_returns(void *argument) { return forks(NULL); }
static int child_ends_thread(void *argument) { return forks(pthread_exit); }
static int nests(void *argument) { return TPSL_Run(2, ends_thread, NULL, NULL); }
static int initializes(void *argument) { return MPI_Init(NULL, NULL); }
static int waits(void *argument)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0)
        puts("ready");
    fflush(stdout);
    return pause();
}

static void *run_waiting(void *ranks)
{
    return (void *)(intptr_t)TPSL_Run(*(int *)ranks, waits, NULL, NULL);
}

/* After a job has ended: none, one or two of them at a time, with one rank more each; -1: one after the other, until standard input ends. */
static void seen(int jobs)
{
    pthread_t thread;
    int number = 10, ranks[2] = {1, 2};
    EXPECT(TPSL_Run(3, add, &number, NULL) == 0);
    for (int i = 0; i < jobs; i++)
        EXPECT(pthread_create(&thread, NULL, run_waiting, &ranks[i]) == 0);
    puts("ready");
    fflush(stdout);
    while (jobs < 0 && poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, 0) == 0)
        EXPECT(TPSL_Run(3, add, &number, NULL) == 0);
    if (jobs >= 0)
        pause();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*function)(void *);
    } wrong[] = {{"pthread_exit", ends_thread}, {"exit", exits}, {"abort", aborts}, {"crash", crashes}, {"child_returns", child_returns}, {"child_pthread_exit", child_ends_thread},
                 {"nested", nests}, {"init", initializes}, {"wait", waits}};
    const char *what = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(what, "values") == 0)
        values();
    else if (strcmp(what, "at_once") == 0)
        at_once(number);
    else if (strcmp(what, "many") == 0)
        many(number);
    else if (strcmp(what, "seen") == 0)
        seen(number);
    else if (strcmp(what, "ranks") == 0)
        return TPSL_Run(number, add, &number, NULL);
    else if (strcmp(what, "no_function") == 0)
        return TPSL_Run(2, NULL, NULL, NULL);
    else if (strcmp(what, "options") == 0)
        return TPSL_Run(2, add, &number, &(struct TPSL_Options){.size = (size_t)number});
    else if (strcmp(what, "cpus") == 0)
        return TPSL_Run(2, add, &number, &(struct TPSL_Options){.size = sizeof(struct TPSL_Options), .cpus = argc > 2 ? argv[2] : "0;0;0"});
    else if (strcmp(what, "stack") == 0)
        return TPSL_Run(2, add, &number, &(struct TPSL_Options){.size = sizeof(struct TPSL_Options), .stack = 1000000000000000});
    else if (strcmp(what, "default_stack") == 0)
        return TPSL_Run(2, has_stack, &(size_t){256 << 10}, NULL);
    else if (strcmp(what, "level") == 0)
        return TPSL_Run(2, add, &number, &(struct TPSL_Options){.size = sizeof(struct TPSL_Options), .thread_level = number});
    else if (strcmp(what, "caller") == 0)
        return TPSL_Run(2, add, &number, &(struct TPSL_Options){.size = sizeof(struct TPSL_Options), .caller = 2});
    else if (strcmp(what, "child") == 0)
        return in_child();
    else if (strcmp(what, "from_rank") == 0)
        return MPI_Init(NULL, NULL) || TPSL_Run(2, add, &number, NULL);
    else if (strcmp(what, "beside_rank") == 0) { /* the program's own rank, and a job of another thread */
        pthread_t other;
        EXPECT(pthread_create(&other, NULL, run_four, &number) == 0 && MPI_Init(NULL, NULL) == MPI_SUCCESS && size_of() == 1);
        EXPECT(pthread_join(other, NULL) == 0 && MPI_Finalize() == MPI_SUCCESS);
        puts("beside");
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (strcmp(what, wrong[i].name) == 0)
            return TPSL_Run(2, wrong[i].function, NULL, NULL);
    return 0;
}
