// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A program that does what few do, and says what came of it. Its lines are the same whether
 * ranks are processes or share an address space. It does not use MPI. The first argument
 * names a folder with a program, oddtool, that exits with 5, and nothing else. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static int rank;

#define SAY(...) (printf("rank %d: ", rank), printf(__VA_ARGS__), putchar('\n'))

static void arguments(int argc, char **argv)
{
    SAY("%d arguments, the last of %zu, a variable of %zu", argc, strlen(argv[argc - 1]), strlen(getenv("ODD")));
}

/* What is open: the standard streams and the launcher's socket. */
static void descriptors(void)
{
    DIR *open = opendir("/proc/self/fd");
    int n = 0;
    for (struct dirent *d; (d = readdir(open)) != NULL;)
        n += d->d_name[0] != '.' && atoi(d->d_name) != dirfd(open);
    closedir(open);
    SAY("%d descriptors", n);
}

static void limits(void)
{
    struct rlimit r;
    getrlimit(RLIMIT_NOFILE, &r);
    SAY("%lu files of %lu", (unsigned long)r.rlim_cur, (unsigned long)r.rlim_max);
}

static void names(void)
{
    char path[PATH_MAX] = "", *real = realpath("/proc/self/exe", NULL);
    SAY("readlink %zd", readlink("/proc/self/exe", path, 3));
    (void)!readlink("/proc/self/exe", path, sizeof path - 1);
    SAY("%s", path);
    SAY("%s", real);
    free(real);
}

static void *shell(void *command)
{
    return (void *)(long)system(command);
}

/* Two calls of system that overlap leave the signals as they were. */
static void shells(void)
{
    pthread_t first, second;
    struct sigaction now;
    pthread_create(&first, NULL, shell, "sleep 0.2");
    usleep(100000);
    pthread_create(&second, NULL, shell, "sleep 0.4");
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    for (int i = 1; i < 32; i++)
        if (sigaction(i, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
            SAY("signal %d is ignored", i);
    signal(SIGCHLD, SIG_IGN);
    errno = 0;
    int status = system("true");
    SAY("system without children: %d, %s", status, strerror(errno));
    signal(SIGCHLD, SIG_DFL);
}

/* The reader of the first sees its end while the second is open. */
static void pipes(void)
{
    FILE *first = popen("cat >/dev/null", "w"), *second = popen("cat >/dev/null; exit 3", "we");
    int one = pclose(first), two = pclose(second);
    SAY("pclose %d %d", one, WEXITSTATUS(two));
    errno = 0;
    FILE *none = popen("true", "x");
    SAY("popen %s, %s", none ? "opened" : "refused", strerror(errno));
}

static int status_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* The rank's own PATH counts. */
static void searches(const char *folder)
{
    char *argv[] = {"oddtool", NULL}, before[4096];
    pid_t child;
    snprintf(before, sizeof before, "%s", getenv("PATH"));
    setenv("PATH", folder, 1);
    fflush(NULL);
    if ((child = fork()) == 0) {
        execlp("oddtool", "oddtool", (char *)NULL);
        _exit(99);
    }
    SAY("execlp %d", status_of(child));
    if ((child = vfork()) == 0) {
        execvp("no such tool", argv);
        _exit(errno == ENOENT ? 7 : 8);
    }
    SAY("execvp %d", status_of(child));
    int error = posix_spawnp(&child, "oddtool", NULL, NULL, argv, environ);
    SAY("posix_spawnp %d %d", error, error ? 0 : status_of(child));
    setenv("PATH", before, 1);
}

static void *noop(void *argument)
{
    return argument;
}

/* Children that execute nothing: of fork, with threads and output of their own, and of
 * theirs. */
static void children(void)
{
    pthread_t thread;
    pid_t child;
    fflush(NULL);
    if ((child = fork()) == 0) {
        if ((child = fork()) == 0) {
            pthread_create(&thread, NULL, noop, NULL);
            pthread_join(thread, NULL);
            SAY("grandchild");
            exit(4);
        }
        exit(status_of(child) + 1);
    }
    SAY("fork %d", status_of(child));
}

static void variables(void)
{
    double value = lgamma(-0.5);
    SAY("lgamma %.3f, sign %d", value, signgam);
    SAY("puts %d", puts("hello"));
    SAY("user %s", getpwuid(getuid())->pw_name);
}

/* Ranks in different zones. */
static void zones(void)
{
    time_t start = 0;
    struct tm tm, *local = localtime(&start);
    SAY("hour %d, %s", local->tm_hour, local->tm_zone);
    setenv("TZ", rank == 0 ? "AAA-5" : "BBB+3", 1);
    tzset();
    localtime_r(&start, &tm);
    SAY("hour %d, %s, %ld, %s", tm.tm_hour, tzname[0], timezone, asctime(&tm));
    setenv("TZ", "", 1);
    SAY("made %ld", (long)mktime(&(struct tm){.tm_year = 70, .tm_mday = 2}));
    unsetenv("TZ");
    SAY("hour %d, %s", localtime(&start)->tm_hour, ctime(&start));
}

static volatile int ticks;

static void tick(union sigval value)
{
    ticks += value.sival_int;
}

static void timers(void)
{
    struct sigevent call = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick, .sigev_value.sival_int = 1};
    struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    timer_t timer;
    int rc = timer_create(CLOCK_MONOTONIC, &call, &timer);
    timer_settime(timer, 0, &often, NULL);
    for (int i = 0; i < 5000 && ticks < 3; i++)
        usleep(1000);
    SAY("timer %d %d %d", rc, ticks >= 3, timer_delete(timer));
}

static void *width(void *unused)
{
    return (void *)MB_CUR_MAX;
}

/* Ranks in different locales, and their threads. */
static void locales(void)
{
    pthread_t thread;
    void *in_thread;
    const char *was = setlocale(LC_ALL, NULL), *now = setlocale(LC_CTYPE, rank == 0 ? "C" : "C.UTF-8");
    SAY("locale %s, %s", was, now);
    usleep(200000); /* until the other has changed its own */
    pthread_create(&thread, NULL, width, NULL);
    pthread_join(thread, &in_thread);
    SAY("width %zu, %ld in a thread, %s", MB_CUR_MAX, (long)in_thread, setlocale(LC_ALL, NULL));
    setenv("LC_ALL", "", 1);
    setenv("LC_TIME", "C.UTF-8", 1);
    setenv("LANG", "C", 1);
    SAY("locale %s", setlocale(LC_ALL, ""));
    now = setlocale(LC_NUMERIC, "nowhere");
    SAY("locale %s, %d", now ? now : "unknown", uselocale(NULL) == LC_GLOBAL_LOCALE);
    SAY("locale %s", setlocale(LC_ALL, "LC_CTYPE=C.UTF-8;LC_NUMERIC=C;LC_TIME=C;LC_COLLATE=C;LC_MONETARY=C;LC_MESSAGES=C;LC_PAPER=C;LC_NAME=C;LC_ADDRESS=C;LC_TELEPHONE=C;LC_MEASUREMENT=C;LC_IDENTIFICATION=C"));
    SAY("locale %s, %d", setlocale(LC_ALL, "POSIX"), setlocale(99, "C") == NULL);
}

static void *reader(void *stream)
{
    char line[9];
    return fgets(line, sizeof line, stream);
}

/* The end of the process does not wait for who reads. */
static void leave_reader(void)
{
    int ends[2];
    pthread_t thread;
    (void)!pipe(ends);
    pthread_create(&thread, NULL, reader, fdopen(ends[0], "r"));
    usleep(50000);
    alarm(10);
}

static _Thread_local int of_thread = 5;

static int add(void *n) { return of_thread += *(int *)n; }

static void c11_threads(void)
{
    thrd_t thread;
    int n = 2, result = 0;
    if (thrd_create(&thread, add, &n) == thrd_success)
        thrd_join(thread, &result);
    SAY("a thread of C11: %d", result);
}

int main(int argc, char **argv)
{
    rank = atoi(getenv("PMI_RANK"));
    arguments(argc, argv);
    descriptors();
    limits();
    names();
    alarm(10); /* for what may hang */
    pipes();
    shells();
    alarm(0);
    searches(argv[1]);
    children();
    variables();
    zones();
    timers();
    locales();
    c11_threads();
    leave_reader();
    return 0;
}
