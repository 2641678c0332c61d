// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Ways to end, and what comes before the end. Rank 1 may end otherwise than the others. */
#include "posix.h"

#include <assert.h>
#include <dlfcn.h>
#include <err.h>
#include <error.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

static void note(const char *text)
{
    FILE *f = fopen(path_of("notes"), "a");
    fprintf(f, "%s\n", text);
    fclose(f);
}

static void at_end_1(void) { note("atexit 1"); }
static void at_end_2(void) { note("atexit 2"); }
static void more_at_end(void)
{
    note("atexit that registers another");
    atexit(at_end_1);
}
static void on_end(int status, void *argument)
{
    char text[64];
    snprintf(text, sizeof text, "on_exit %d %s", status, (char *)argument);
    note(text);
}
static void quick(void) { note("at_quick_exit"); }
__attribute__((constructor)) static void constructed(void) { errno = 0; }
__attribute__((destructor)) static void destroyed(void)
{
    if (folder)
        note("destructor");
}
__attribute__((destructor(200))) static void destroyed_late(void)
{
    if (folder)
        note("late destructor");
}

static void register_all(void)
{
    atexit(at_end_1);
    on_exit(on_end, "argument");
    atexit(more_at_end);
    atexit(at_end_2);
    at_quick_exit(quick);
    printf("not flushed by the program");
}

static void returns(void) { register_all(); }

static void exits(void)
{
    register_all();
    exit(rank == 1 ? 300 : 0); /* of which 44 are left */
}

static void exits_at_once(void)
{
    register_all();
    _exit(rank == 1 ? 5 : 0);
}

static void exits_quickly(void)
{
    register_all();
    quick_exit(rank == 1 ? 6 : 0);
}

static void exit_again(void) { exit(7); }

/* exit in a function of atexit goes on with the rest. */
static void exits_twice(void)
{
    atexit(at_end_1);
    atexit(exit_again);
    atexit(at_end_2);
    exit(0);
}

static void leave_at_end(void) { _exit(8); }
static void leaves_at_end(void)
{
    atexit(at_end_1);
    atexit(leave_at_end);
    atexit(at_end_2);
}

static void *exit_here(void *status) { exit((int)(long)status); }
static void exits_in_thread(void)
{
    pthread_t thread;
    register_all();
    OK(pthread_create(&thread, NULL, exit_here, (void *)(rank == 1 ? 9L : 0L)));
    for (;;)
        pause();
}

static void aborts(void)
{
    if (rank == 1) {
        register_all();
        fflush(stdout);
        abort();
    }
    pause();
}

static void asserts(void)
{
    if (rank == 1)
        assert(rank == 0);
    pause();
}

static void leaves_by_err(void)
{
    register_all();
    errno = ENOENT;
    warn("warn %d", 1);
    warnx("warnx");
    if (rank == 1)
        err(4, "err");
}

static void leaves_by_error(void)
{
    register_all();
    errno = 0;
    error(0, EPERM, "goes on");
    error_at_line(0, 0, "file", 12, "at line");
    if (rank == 1)
        error(3, EINVAL, "ends");
}

static void perrors(void)
{
    errno = EISDIR;
    perror("perror");
    fprintf(stderr, "%s %s\n", program_invocation_short_name, strrchr(program_invocation_name, '/'));
}

/* Buffers of many streams, in all modes, are written at the end. */
static void flushes(void)
{
    FILE *full = fopen(path_of("full"), "w"), *line = fopen(path_of("line"), "w"), *none = fopen(path_of("none"), "w"), *append = fopen(path_of("append"), "a");
    static char buffer[64];
    setvbuf(full, buffer, _IOFBF, sizeof buffer);
    setvbuf(line, NULL, _IOLBF, 0);
    setvbuf(none, NULL, _IONBF, 0);
    for (int i = 0; i < 10; i++) {
        fprintf(full, "%d of a hundred characters or so, ", i);
        fprintf(line, "%d\n", i);
        fprintf(none, "%d", i);
        fprintf(append, "%d,", i);
    }
    fputs("no end of line", line);
    fputs("stdout without an end of line", stdout);
    FILE *closed = fopen(path_of("closed"), "w");
    fputs("closed", closed);
    fclose(closed);
}

/* A child has the parent's buffer and handlers: both write, both run. */
static void child_exits(void)
{
    FILE *f = fopen(path_of("both"), "a");
    fputs("twice\n", f);
    atexit(at_end_1);
    if (fork() == 0)
        exit(0);
    siginfo_t info;
    waitid(P_ALL, 0, &info, WEXITED);
}

/* Ranks end one after the other: each end is complete. */
static void ends_apart(void)
{
    atexit(at_end_1);
    usleep((unsigned)rank * 20000);
    printf("rank %d ends", rank);
}

static void *idle(void *runs)
{
    OK(sem_post(runs));
    pause();
    return NULL;
}

/* A rank whose thread is idle ends past libc, as programs in Go do: the others go on, for longer than ranks are given after a crash. */
static void leaves_by_instruction(void)
{
    pthread_t thread;
    sem_t runs;
    OK(sem_init(&runs, 0, 0));
    OK(pthread_create(&thread, NULL, idle, &runs));
    OK(sem_wait(&runs));
    if (rank == 1)
        __asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "rcx", "r11", "memory");
    sleep(1);
    SAY("rank %d goes on", rank);
}

/* ---- threads are in the middle of what takes locks ---- */

static void *lock_of_malloc(void *runs)
{
    OK(sem_post(runs));
    for (size_t n = 1;; n = n * 5 % 100003)
        use_heap(n);
}

static void *lock_of_loader(void *runs)
{
    OK(sem_post(runs));
    for (;;)
        dlclose(dlopen("libm.so.6", RTLD_NOW));
}

static void *lock_of_zone(void *runs)
{
    OK(sem_post(runs));
    for (time_t now = 0;; now++)
        localtime_r(&now, &(struct tm){0});
}

static void be_busy(void)
{
    static void *(*const busy[])(void *) = {lock_of_malloc, lock_of_loader, lock_of_zone};
    pthread_t thread;
    sem_t runs;
    OK(sem_init(&runs, 0, 0));
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++) {
        OK(pthread_create(&thread, NULL, busy[i], &runs));
        OK(sem_wait(&runs));
    }
}

/* What needs each of these locks. */
static void take_all(void)
{
    time_t now = 86400;
    for (int i = 0; i < 1000; i++) {
        use_heap(1000);
        dlclose(dlopen("libm.so.6", RTLD_NOW));
        localtime_r(&now, &(struct tm){0});
    }
}

/* All but rank 0 leave so, and it goes on. */
static void leaves_by_system_call(void)
{
    if (rank != 0) {
        be_busy();
        usleep(20000);
        syscall(SYS_exit_group, 0);
    }
    sleep(1);
    take_all();
    SAY("rank %d goes on", rank);
}

static void replaced_by_system_call(void)
{
    if (rank != 0) {
        be_busy();
        usleep(20000);
        char *argv[] = {"sh", "-c", "exit 0", NULL};
        rank % 2 ? syscall(SYS_execve, "/bin/sh", argv, environ) : syscall(SYS_execveat, AT_FDCWD, "/bin/sh", argv, environ, 0);
    }
    sleep(1);
    take_all();
    SAY("rank %d goes on", rank);
}

/* ---- a thread is in the middle of a transfer ---- */

static char much[1 << 20];
static struct iovec vector = {much, sizeof much};
static struct mmsghdr message = {.msg_hdr = {.msg_iov = &vector, .msg_iovlen = 1}};
static ssize_t by_write(int fd) { return write(fd, much, sizeof much); }
static ssize_t by_writev(int fd) { return writev(fd, &vector, 1); }
static ssize_t by_send(int fd) { return send(fd, much, sizeof much, 0); }
static ssize_t by_sendto(int fd) { return sendto(fd, much, sizeof much, 0, NULL, 0); }
static ssize_t by_sendmsg(int fd) { return sendmsg(fd, &message.msg_hdr, 0); }
static ssize_t by_sendmmsg(int fd) { return sendmmsg(fd, &message, 1, 0); }
static ssize_t by_vmsplice(int fd) { return vmsplice(fd, &vector, 1, 0); }

static ssize_t (*const transfers[])(int) = {by_write, by_writev, by_send, by_sendto, by_sendmsg, by_sendmmsg, by_vmsplice};
enum { FIRST_OF_SOCKETS = 2, LAST_OF_SOCKETS = 5, TRANSFERS = sizeof transfers / sizeof *transfers };

/* Each call blocks when a part is written. A signal ends it with this part, and the next one blocks, too. */
static void *transfer(void *which)
{
    long i = (long)which;
    for (;;) {
        int ends[2];
        OK(i >= FIRST_OF_SOCKETS && i <= LAST_OF_SOCKETS ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends));
        transfers[i](ends[1]);
        close(ends[0]);
        close(ends[1]);
    }
}

static void replaced_in_transfers(void)
{
    pthread_t thread;
    char command[128];
    struct timespec now;
    for (long i = 0; i < TRANSFERS; i++)
        OK(pthread_create(&thread, NULL, transfer, (void *)i));
    usleep(50000);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(command, sizeof command, "[ $(($(date +%%s) - %ld)) -lt 4 ] && echo replaced at once", now.tv_sec);
    execl("/bin/sh", "sh", "-c", command, NULL);
}

/* ---- the first thread ends, and the process goes on ---- */

static void cleaned(void *text) { note(text); }
static pthread_key_t key;
static pthread_t first;

static void *outlive(void *unused)
{
    void *result;
    OK(pthread_join(first, &result));
    note(result == PTHREAD_CANCELED ? "the first thread was cancelled" : result);
    printf("the last thread ends");
    return NULL;
}

static void prepare_first(void)
{
    pthread_t thread;
    first = pthread_self();
    atexit(at_end_1);
    OK(pthread_key_create(&key, cleaned));
    OK(pthread_setspecific(key, "destructor of a key"));
    OK(pthread_create(&thread, NULL, outlive, NULL));
}

static void first_thread_exits(void)
{
    prepare_first();
    pthread_cleanup_push(cleaned, "cleanup");
    pthread_exit("the value of pthread_exit");
    pthread_cleanup_pop(0);
}

static void first_thread_is_cancelled(void)
{
    prepare_first();
    pthread_cleanup_push(cleaned, "cleanup");
    OK(pthread_cancel(pthread_self()));
    for (;;)
        pause();
    pthread_cleanup_pop(0);
}

/* Each rank joins its first thread by another function. */
static void *join_first(void *unused)
{
    struct timespec far;
    void *result = NULL;
    int value = 0, error = EBUSY;
    clock_gettime(CLOCK_REALTIME, &far);
    far.tv_sec += 3600;
    switch (rank) {
    case 0:
        OK(thrd_join(first, &value) != thrd_success);
        break;
    case 1:
        OK(pthread_timedjoin_np(first, &result, &(struct timespec){0}) != ETIMEDOUT);
        note("not yet");
        OK(pthread_timedjoin_np(first, &result, &far));
        break;
    case 2:
        OK(pthread_clockjoin_np(first, &result, CLOCK_REALTIME, &far));
        break;
    default:
        OK(pthread_tryjoin_np(first, NULL) != EBUSY);
        note("not yet");
        while ((error = pthread_tryjoin_np(first, &result)) == EBUSY)
            usleep(1000);
        OK(error);
    }
    SAY("%d", rank ? (int)(intptr_t)result : value);
    return NULL;
}

static void first_thread_is_joined(void)
{
    pthread_t thread;
    first = pthread_self();
    OK(pthread_create(&thread, NULL, join_first, NULL));
    while (rank % 2 && access(path_of("notes"), F_OK) != 0)
        usleep(1000);
    thrd_exit(5);
}

static void exit_first(void) { pthread_exit(NULL); }

/* At the end of the program, and in a child. */
static void first_thread_exits_late(void)
{
    atexit(at_end_1);
    atexit(exit_first);
    fflush(stdout);
    if (fork() == 0) {
        note("child");
        pthread_exit(NULL);
    }
    siginfo_t info;
    waitid(P_ALL, 0, &info, WEXITED);
    SAY("%d", info.si_status);
}

static void *end_later(void *unused)
{
    usleep(50000);
    note("the thread ends");
    return NULL;
}

/* A ring that the kernel serves with a thread of the process (io_uring_setup(2)). It returns a thread of the program. */
static pthread_t open_ring(void)
{
    pthread_t thread;
    struct io_uring_params p = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 60000};
    SAY("%s", syscall(SYS_io_uring_setup, 8, &p) >= 0 ? "ring" : strerror(errno));
    OK(pthread_create(&thread, NULL, end_later, NULL));
    return thread;
}

static void leaves_a_ring(void) { OK(pthread_join(open_ring(), NULL)); }

static void first_thread_leaves_a_ring(void)
{
    open_ring();
    pthread_exit(NULL);
}

const struct program programs[] = {
    PROGRAM(returns), PROGRAM(exits), PROGRAM(exits_at_once), PROGRAM(exits_quickly), PROGRAM(exits_twice), PROGRAM(leaves_at_end),
    PROGRAM(exits_in_thread), PROGRAM(aborts), PROGRAM(asserts), PROGRAM(leaves_by_err), PROGRAM(leaves_by_error), PROGRAM(perrors),
    PROGRAM(flushes), PROGRAM(child_exits), PROGRAM(ends_apart), PROGRAM(leaves_by_instruction), PROGRAM(leaves_by_system_call),
    PROGRAM(replaced_by_system_call), PROGRAM(replaced_in_transfers),
    PROGRAM(first_thread_exits), PROGRAM(first_thread_is_cancelled), PROGRAM(first_thread_is_joined), PROGRAM(first_thread_exits_late),
    PROGRAM(leaves_a_ring), PROGRAM(first_thread_leaves_a_ring), {NULL, NULL},
};
