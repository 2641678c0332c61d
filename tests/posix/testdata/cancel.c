// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Cancellation of threads. */
#include "posix.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <wordexp.h>

static sem_t ready;
static int pipe_ends[2];

static void announce(void *text)
{
    SAY("cleanup: %s", (char *)text);
}

static const char *join(pthread_t thread)
{
    void *result;
    OK(pthread_join(thread, &result));
    return result == PTHREAD_CANCELED ? "cancelled" : result ? "returned" : "returned nothing";
}

/* Cancels the thread when it says that it is ready. */
static void cancel(const char *what, void *(*routine)(void *))
{
    pthread_t thread;
    OK(sem_init(&ready, 0, 0));
    OK(pthread_create(&thread, NULL, routine, NULL));
    OK(sem_wait(&ready));
    OK(pthread_cancel(thread));
    SAY("%s: %s", what, join(thread));
}

static void *in_pause(void *unused)
{
    pthread_cleanup_push(announce, "outer");
    pthread_cleanup_push(announce, "inner");
    sem_post(&ready);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *in_read(void *unused)
{
    char c;
    sem_post(&ready);
    (void)!read(pipe_ends[0], &c, 1);
    return &ready;
}

static void *in_test(void *unused)
{
    sem_post(&ready);
    for (;;)
        pthread_testcancel();
    return NULL;
}

static void *in_sleep(void *unused)
{
    sem_post(&ready);
    sleep(1000);
    return NULL;
}

static void *in_loop(void *unused)
{
    static volatile long turns;
    int before;
    OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before));
    sem_post(&ready);
    for (;;)
        turns++;
    return NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void unlock(void *unused)
{
    SAY("the lock is mine again: %d", pthread_mutex_unlock(&lock));
}

static void *in_condition(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, NULL);
    sem_post(&ready);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return NULL;
}

static void at_points(void)
{
    OK(pipe(pipe_ends));
    cancel("pause", in_pause);
    cancel("read", in_read);
    cancel("testcancel", in_test);
    cancel("sleep", in_sleep);
    cancel("condition", in_condition);
    SAY("the lock is free: %d", pthread_mutex_trylock(&lock));
}

static void asynchronous(void)
{
    for (int i = 0; i < 20; i++)
        cancel("loop", in_loop);
}

static void *reluctant(void *unused)
{
    int before, type;
    OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before));
    OK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type));
    SAY("before: %s, %s", before == PTHREAD_CANCEL_ENABLE ? "enabled" : "disabled", type == PTHREAD_CANCEL_DEFERRED ? "deferred" : "asynchronous");
    sem_post(&ready);
    char c;
    (void)!read(pipe_ends[0], &c, 1);
    pthread_testcancel();
    SAY("still here, read %c", c);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_testcancel();
    SAY("not reached");
    return NULL;
}

static void disabled(void)
{
    pthread_t thread;
    OK(pipe(pipe_ends));
    OK(sem_init(&ready, 0, 0));
    OK(pthread_create(&thread, NULL, reluctant, NULL));
    OK(sem_wait(&ready));
    OK(pthread_cancel(thread));
    (void)!write(pipe_ends[1], "x", 1);
    SAY("%s", join(thread));
}

static pthread_key_t key;

static void *with_value(void *value)
{
    OK(pthread_setspecific(key, value));
    pthread_cleanup_push(announce, "before the destructors of keys");
    sem_post(&ready);
    pthread_exit(value);
    pthread_cleanup_pop(0);
}

static void *itself(void *unused)
{
    OK(pthread_cancel(pthread_self()));
    SAY("pending");
    pthread_testcancel();
    return &ready;
}

static void exits_and_itself(void)
{
    pthread_t thread;
    OK(pthread_key_create(&key, announce));
    OK(pthread_create(&thread, NULL, with_value, "a value"));
    SAY("%s", join(thread));
    OK(pthread_create(&thread, NULL, itself, NULL));
    SAY("%s", join(thread));
}

/* All ranks at once, again and again. */
static void many(void)
{
    int cancelled = 0;
    for (int round = 0; round < 50; round++) {
        pthread_t threads[4];
        OK(sem_init(&ready, 0, 0));
        for (int i = 0; i < 4; i++)
            OK(pthread_create(&threads[i], NULL, i % 2 ? in_loop : in_sleep, NULL));
        for (int i = 0; i < 4; i++)
            OK(sem_wait(&ready));
        for (int i = 0; i < 4; i++)
            OK(pthread_cancel(threads[i]));
        for (int i = 0; i < 4; i++)
            cancelled += join(threads[i])[0] == 'c';
    }
    SAY("%d cancelled", cancelled);
}

static void *in_puts(void *unused)
{
    sem_post(&ready);
    puts("waits");
    return &ready;
}

static void *in_flush(void *unused)
{
    sem_post(&ready);
    fflush(NULL);
    return &ready;
}

static FILE *shell;

static void *in_popen(void *unused)
{
    OK(pthread_cancel(pthread_self()));
    sem_post(&ready);
    shell = popen("exit 3", "r");
    pthread_testcancel();
    return &ready;
}

static FILE *file;

static void *in_close(void *unused)
{
    file = fdopen(dup(pipe_ends[1]), "w");
    fputs("waits", file);
    sem_post(&ready);
    fclose(file);
    return &ready;
}

static void *in_close_of_stdout(void *unused)
{
    sem_post(&ready);
    fclose(stdout);
    return &ready;
}

/* The threads write to a pipe that is full. Nothing stays locked. */
static void in_streams(void)
{
    int out = dup(STDOUT_FILENO);
    FILE *told = fdopen(dup(out), "w");
    OK(setvbuf(told, NULL, _IOLBF, BUFSIZ));
    OK(setvbuf(stdout, NULL, _IOLBF, BUFSIZ));
    OK(pipe(pipe_ends));
    OK(fcntl(pipe_ends[1], F_SETFL, O_NONBLOCK));
    for (char c = 'x'; write(pipe_ends[1], &c, 1) == 1;)
        ;
    OK(fcntl(pipe_ends[1], F_SETFL, 0));
    void *(*const routines[])(void *) = {in_puts, in_flush, in_popen, in_close, in_close_of_stdout};
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        OK(dup2(pipe_ends[1], STDOUT_FILENO) != STDOUT_FILENO);
        if (i > 0)
            fputs("waits, too", stdout);
        OK(sem_init(&ready, 0, 0));
        OK(pthread_create(&thread, NULL, routines[i], NULL));
        OK(sem_wait(&ready));
        OK(pthread_cancel(thread));
        fprintf(told, "%s\n", join(thread));
        OK(dup2(out, STDOUT_FILENO) != STDOUT_FILENO);
        fprintf(told, "%d %d\n", puts("goes"), fflush(NULL));
        fclose(fopen(path_of("file"), "w"));
    }
    fprintf(told, "%d %d\n", pclose(shell), ftrylockfile(file));
}

static void *library;

static void *opening(void *unused)
{
    OK(pthread_cancel(pthread_self()));
    sem_post(&ready);
    library = dlopen("libcrypt.so.1", RTLD_NOW);
    pthread_testcancel();
    return &ready;
}

/* dlopen is no place to be cancelled at. */
static void in_dlopen(void)
{
    cancel("dlopen", opening);
    SAY("%d %d", library != NULL, dlopen("libcrypt.so.1", RTLD_NOW) == library);
}

static void *expanding(void *unused)
{
    wordexp_t words;
    OK(pthread_cancel(pthread_self()));
    sem_post(&ready);
    wordexp("$(echo word)", &words, 0);
    pthread_testcancel();
    return &ready;
}

/* The time zone has a lock, too. */
static void in_wordexp(void)
{
    cancel("wordexp", expanding);
    step();
    time_t zero = 0;
    SAY("%d", localtime(&zero)->tm_year);
}

static void *waiting_for_shell(void *command)
{
    system(command);
    return &ready;
}

/* The shell ends, and the signals are as before. */
static void in_system(void)
{
    pthread_t thread;
    struct sigaction interrupt, quit;
    char command[64], text[16] = "";
    OK(pipe(pipe_ends));
    snprintf(command, sizeof command, "echo $$ >&%d; exec sleep 1000", pipe_ends[1]);
    OK(pthread_create(&thread, NULL, waiting_for_shell, command));
    OK(read(pipe_ends[0], text, sizeof text - 1) < 0);
    OK(pthread_cancel(thread));
    SAY("%s", join(thread));
    pid_t shell = atoi(text);
    int left = kill(shell, 0);
    SAY("%d %d", shell > 0, left);
    OK(sigaction(SIGINT, NULL, &interrupt));
    OK(sigaction(SIGQUIT, NULL, &quit));
    SAY("%d %d", interrupt.sa_handler == SIG_DFL, quit.sa_handler == SIG_DFL);
    if (left == 0)
        kill(shell, SIGKILL);
}

const struct program programs[] = {
    PROGRAM(at_points), PROGRAM(asynchronous), PROGRAM(disabled), PROGRAM(exits_and_itself), PROGRAM(many), PROGRAM(in_streams), PROGRAM(in_dlopen),
    PROGRAM(in_wordexp), PROGRAM(in_system), {NULL, NULL},
};
