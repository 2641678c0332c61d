// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Processes that a rank makes, and what it is itself. */
#include "posix.h"

#include <alloca.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int status_of(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void identity(void)
{
    SAY("leads its session %d, its group %d", getsid(0) == getpid(), getpgrp() == getpid());
    SAY("first thread %d", gettid() == getpid());
    SAY("parent known %d", getppid() > 1);
    SAY("id by system call %d", syscall(SYS_getpid) == getpid());
    SAY("%d", kill(getpid(), 0));
}

static void forks(void)
{
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            FILE *f = fopen(path_of("child"), "a");
            fprintf(f, "child %d, parent %d\n", i, getppid() != getpid());
            exit(10 + i);
        }
        SAY("%d", status_of(child));
        fflush(stdout);
    }
    errno = 0;
    int rc = wait(NULL);
    SAY("%d %m", rc);
}

static void waits(void)
{
    siginfo_t info = {0};
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    SAY("%d", waitpid(child, &status, WNOHANG));
    kill(child, SIGSTOP);
    SAY("%d %d", waitpid(child, &status, WUNTRACED) == child, WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    kill(child, SIGCONT);
    SAY("%d %d", waitpid(child, &status, WCONTINUED) == child, WIFCONTINUED(status));
    kill(child, SIGKILL);
    int rc = waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    SAY("%d %d %d", rc, info.si_code == CLD_KILLED, info.si_status);
    SAY("%d", status_of(child));
    struct rusage usage;
    child = fork();
    if (child == 0)
        _exit(4);
    rc = wait4(child, &status, 0, &usage);
    SAY("%d %d", rc == child, WEXITSTATUS(status));
}

/* A flat rank's sibling is no child of it; nor is a private one's. */
static void no_siblings(void)
{
    int rc = waitpid(-1, NULL, WNOHANG);
    SAY("%d %m", rc);
    rc = waitpid(getppid(), NULL, WNOHANG);
    SAY("%d %m", rc);
}

static void vforks(void)
{
    static volatile int seen;
    for (int i = 0; i < 3; i++) {
        pid_t child = vfork();
        if (child == 0) {
            seen++;
            if (i == 0)
                _exit(5);
            execl(i == 1 ? "/bin/true" : "/nonexistent", "true", NULL);
            _exit(127);
        }
        SAY("%d, memory shared %d", status_of(child), seen);
    }
}

static void spawns(void)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t set;
    pid_t child;
    char *sh[] = {"sh", "-c", "echo out; echo err >&2; echo $SPAWNED; trap", NULL}, *environment[] = {"SPAWNED=yes", "PATH=/usr/bin:/bin", NULL};
    OK(posix_spawn_file_actions_init(&actions));
    OK(posix_spawn_file_actions_addopen(&actions, 1, path_of("out"), O_WRONLY | O_CREAT, 0600));
    OK(posix_spawn_file_actions_adddup2(&actions, 1, 2));
    OK(posix_spawnattr_init(&attributes));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    OK(posix_spawnattr_setsigmask(&attributes, &set));
    OK(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP));
    OK(posix_spawn(&child, "/bin/sh", &actions, &attributes, sh, environment));
    SAY("%d", status_of(child));
    OK(posix_spawnp(&child, "sh", &actions, NULL, sh, environment));
    SAY("%d", status_of(child));
    SAY("%s", strerror(posix_spawn(&child, "/nonexistent", NULL, NULL, sh, environment)));
    SAY("%s", strerror(posix_spawnp(&child, "nonexistent-program", NULL, NULL, sh, environment)));
}

/* What a child does before the program is done once, wherever in PATH that is. */
static void spawns_once(void)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    char *echo[] = {"echo", "said", NULL}, path[8200];
    OK(posix_spawn_file_actions_init(&actions));
    OK(posix_spawn_file_actions_addopen(&actions, 1, path_of("out"), O_WRONLY | O_CREAT | O_EXCL, 0600));
    snprintf(path, sizeof path, "/nonexistent:%s:/usr/bin:/bin", folder);
    OK(setenv("PATH", path, 1));
    OK(mkdir(path_of("echo"), 0700));
    OK(posix_spawnp(&child, "echo", &actions, NULL, echo, environ));
    SAY("%d", status_of(child));
    OK(symlink("/bin/echo", path_of("echo/linked")));
    OK(posix_spawn_file_actions_destroy(&actions));
    OK(posix_spawn_file_actions_init(&actions));
    OK(posix_spawn_file_actions_addchdir_np(&actions, path_of("echo")));
    OK(posix_spawnp(&child, "./linked", &actions, NULL, echo, environ)); /* a path is that of the child */
    SAY("%d", status_of(child));
}

/* fclose ends a stream of popen as pclose does, and later children have the descriptors that they inherit. */
static void closes_pipes(void)
{
    char line[100] = "", command[100];
    FILE *p = popen("echo piped; exit 4", "r");
    fgets(line, sizeof line, p);
    SAY("%d %s", WEXITSTATUS(fclose(p)), strtok(line, "\n"));
    SAY("%d", waitpid(-1, NULL, WNOHANG));
    int fd = open(path_of("inherited"), O_CREAT | O_WRONLY, 0600);
    snprintf(command, sizeof command, "echo inherited >&%d", fd);
    SAY("%d", pclose(popen(command, "w")));
}

static void shells(void)
{
    char line[100] = "";
    setenv("OF_RANK", rank % 2 ? "odd" : "even", 1);
    fflush(stdout);
    SAY("%d", WEXITSTATUS(system("echo shell $OF_RANK; exit 3")));
    SAY("%d", system(NULL) != 0);
    FILE *p = popen("echo piped $OF_RANK; exit 4", "r");
    while (fgets(line, sizeof line, p))
        fputs(line, stdout);
    SAY("%d", WEXITSTATUS(pclose(p)));
    fflush(stdout);
    p = popen("sort", "w");
    fprintf(p, "b\na\n");
    SAY("%d", pclose(p));
}

static void pipelines(void)
{
    int ends[2], n = 0;
    char buffer[5000];
    OK(pipe2(ends, O_CLOEXEC));
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        memset(buffer, 'x', sizeof buffer);
        for (int i = 0; i < 100; i++)
            (void)!write(ends[1], buffer, sizeof buffer);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
        n += (int)got;
    SAY("%d %d", n, status_of(child));
    OK(pipe(ends));
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    errno = 0;
    ssize_t rc = write(ends[1], "x", 1);
    SAY("%zd %m", rc);
}

static void sessions(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pid_t before = getsid(0);
        pid_t new = setsid();
        _exit(new == getpid() && before != new && getpgrp() == getpid() ? 0 : 1);
    }
    SAY("%d", status_of(child));
    errno = 0;
    int rc = setsid();
    SAY("%d %m", rc);
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    OK(setpgid(child, child));
    SAY("%d", getpgid(child) == child);
    OK(kill(-child, SIGTERM));
    SAY("%d", status_of(child));
}

/* ---- what a process may do: all its threads change, no other rank's ---- */

static atomic_int changed;
static void *ids_of_thread(void *unused)
{
    while (!changed)
        usleep(1000);
    uid_t r, e, s;
    gid_t rg, eg, sg;
    getresuid(&r, &e, &s);
    getresgid(&rg, &eg, &sg);
    SAY("thread: %d %d %d, %d %d %d, %d groups, kernel %ld", r, e, s, rg, eg, sg, getgroups(0, NULL), syscall(SYS_geteuid));
    return NULL;
}

static void users(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        OK(pthread_create(&threads[i], NULL, ids_of_thread, NULL));
    if (geteuid() == 0) { /* else there is nothing to give up */
        OK(setgroups(0, NULL));
        OK(setregid((gid_t)1000 + (gid_t)rank, (gid_t)2000 + (gid_t)rank));
        OK(setresuid((uid_t)1000 + (uid_t)rank, (uid_t)2000 + (uid_t)rank, 0));
    }
    changed = 1;
    ids_of_thread(NULL);
    for (int i = 0; i < 3; i++)
        OK(pthread_join(threads[i], NULL));
    if (getuid() != geteuid()) {
        OK(seteuid(0));
        OK(setgid(65534));
        OK(setuid(65534));
        errno = 0;
        int rc = setuid(0);
        SAY("%d %m", rc);
        OK(setfsuid(65534) != 65534);
    }
    ids_of_thread(NULL);
}

/* Only some ranks, while threads of all come and go. */
static void *nothing(void *unused) { return NULL; }

static void users_beside_threads(void)
{
    for (int i = 0; i < 100; i++) {
        pthread_t threads[4];
        for (int k = 0; k < 4; k++)
            OK(pthread_create(&threads[k], NULL, nothing, NULL));
        if (rank % 2 && getuid() == 0) {
            OK(seteuid(1000));
            OK(seteuid(0));
        }
        for (int k = 0; k < 4; k++)
            OK(pthread_join(threads[k], NULL));
    }
    SAY("%d", (int)geteuid());
}

static void directories(void)
{
    char now[4096];
    OK(mkdir(path_of("inner"), 0700));
    OK(chdir(path_of("inner")));
    int fd = open("file", O_CREAT | O_WRONLY, 0666);
    OK(write(fd, "x", 1) != 1);
    OK(fchdir(open("..", O_DIRECTORY)));
    SAY("%s", getcwd(now, sizeof now) + strlen(folder) - 2);
    struct stat st;
    OK(stat("inner/file", &st));
    mode_t before = umask((mode_t)(rank * 2));
    SAY("%o %o", before, st.st_mode);
    close(open("masked", O_CREAT | O_WRONLY, 0666));
    OK(stat("masked", &st));
    SAY("%o", st.st_mode);
}

static void limits(void)
{
    struct rlimit r;
    static const int kinds[] = {RLIMIT_NOFILE, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_FSIZE, RLIMIT_CPU};
    for (int i = 0; i < 6; i++) {
        OK(getrlimit((__rlimit_resource_t)kinds[i], &r));
        SAY("%d: %ld %ld", kinds[i], (long)r.rlim_cur, (long)r.rlim_max);
    }
    OK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){20 + (rlim_t)rank, 100}));
    int n = 0;
    while (dup(0) >= 0)
        n++;
    SAY("%d more, then %m", n);
    SAY("%ld %d", sysconf(_SC_OPEN_MAX), sysconf(_SC_CHILD_MAX) == (long)r.rlim_cur);
    signal(SIGXFSZ, SIG_IGN);
    close(3);
    OK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){10, 10}));
    int fd = open(path_of("short"), O_CREAT | O_WRONLY, 0600);
    ssize_t rc = write(fd, "more than ten bytes", 19);
    SAY("%zd", rc);
    rc = write(fd, "x", 1);
    SAY("%zd %m", rc);
}

static __attribute__((noinline)) void touch(size_t bytes)
{
    volatile char *variables = alloca(bytes);
    variables[0] = 1;
}

/* A function with more variables than the stack has room for. */
static void large_frame(void)
{
    struct rlimit r;
    OK(getrlimit(RLIMIT_STACK, &r));
    if (r.rlim_cur == RLIM_INFINITY)
        return;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        touch(r.rlim_cur + (4 << 20));
        _exit(0);
    }
    SAY("%d", status_of(child));
}

/* All ranks move their breaks at the same time. */
static void breaks(void)
{
    enum { BYTES = 100000 };
    unsigned char *blocks[100];
    unsigned long wrong = 0;
    SAY("stdout has its buffer, which may lie below the break");
    for (int i = 0; i < 100; i++) {
        blocks[i] = sbrk(BYTES);
        OK(blocks[i] == (void *)-1);
        for (int k = 0; k < BYTES; k++)
            wrong += blocks[i][k] != 0; /* new memory is zero */
        memset(blocks[i], 1 + i + rank, BYTES);
        step();
    }
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < BYTES; k++)
            wrong += blocks[i][k] != 1 + i + rank;
    SAY("%lu wrong, one after another %d", wrong, blocks[99] - blocks[0] == 99 * BYTES);
    unsigned char *old = sbrk(-50 * BYTES);
    SAY("%d %d", old == blocks[99] + BYTES, sbrk(0) == blocks[50]);
    OK(brk(blocks[60]));
    for (int k = 0; k < 10 * BYTES; k++)
        wrong += blocks[50][k] != 0 && blocks[50] + k > (unsigned char *)(((uintptr_t)blocks[50] + 4095) & -4096UL); /* what was given back */
    SAY("%lu wrong", wrong);
    SAY("%d %m", sbrk(INTPTR_MAX) == (void *)-1);
}

static void scheduling(void)
{
    struct sched_param p;
    errno = 0;
    SAY("%d", getpriority(PRIO_PROCESS, 0));
    OK(setpriority(PRIO_PROCESS, 0, 3 + rank));
    SAY("%d %d", getpriority(PRIO_PROCESS, 0), nice(1));
    SAY("%d", sched_getscheduler(0));
    OK(sched_getparam(0, &p));
    OK(sched_setscheduler(0, SCHED_BATCH, &p));
    SAY("%d", sched_getscheduler(0));
    char name[17] = "";
    OK(prctl(PR_SET_NAME, "renamed"));
    OK(prctl(PR_GET_NAME, name));
    SAY("%s", name);
    SAY("%d", prctl(PR_GET_DUMPABLE));
}

/* Replaced by another program: what was open and blocked goes on. */
static void replaced(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    OK(sigprocmask(SIG_SETMASK, &set, NULL));
    signal(SIGUSR1, SIG_IGN);
    int fd = open(path_of("kept"), O_CREAT | O_WRONLY, 0600);
    OK(dup2(fd, 9) != 9);
    SAY("before");
    fflush(stdout);
    execl("/bin/sh", "sh", "-c", "echo kept >&9; grep -E '^(SigBlk|SigIgn)' /proc/self/status; exit 6", NULL);
}

static void *replace(void *unused)
{
    execl("/bin/sh", "sh", "-c", "echo replaced by a thread; exit 2", NULL);
    return NULL;
}

static void replaced_by_thread(void)
{
    pthread_t thread;
    fflush(stdout);
    OK(pthread_create(&thread, NULL, replace, NULL));
    pthread_join(thread, NULL);
}

/* ---- the program's own file, by the names that /proc has for it ---- */

static char by_number[32]; /* that of the rank, also in its children */
static const char *const own_names[] = {"/proc/self/exe", "/proc/thread-self/exe", by_number};
enum { OWN_NAMES = sizeof own_names / sizeof *own_names };

static size_t size_of(int fd)
{
    struct stat file = {0};
    OK(fstat(fd, &file));
    close(fd);
    return (size_t)file.st_size;
}

static size_t size_of_stream(FILE *f)
{
    OK(fseek(f, 0, SEEK_END));
    size_t size = (size_t)ftell(f);
    fclose(f);
    return size;
}

static void opens_its_file(void)
{
    struct stat program;
    OK(stat(program_invocation_name, &program));
    size_t size = (size_t)program.st_size;
    snprintf(by_number, sizeof by_number, "/proc/%d/exe", getpid());
    fflush(stdout);
    pid_t child = fork(); /* both do the same */
    if (child > 0)
        SAY("%d", status_of(child));
    for (int i = 0; i < OWN_NAMES; i++) {
        const char *name = own_names[i];
        SAY("%d %d", size_of(open(name, O_RDONLY)) == size, size_of(open64(name, O_RDONLY)) == size);
        SAY("%d %d", size_of(openat(AT_FDCWD, name, O_RDONLY)) == size, size_of(openat64(0, name, O_RDONLY | O_CLOEXEC)) == size);
        SAY("%d %d", size_of_stream(fopen(name, "r")) == size, size_of_stream(fopen64(name, "r")) == size);
        SAY("%d", size_of_stream(freopen(name, "r", fopen("/dev/null", "r"))) == size);
    }
    struct stat made;
    OK(fstat(openat(AT_FDCWD, path_of("new"), O_CREAT | O_RDWR, 0640), &made));
    SAY("mode %o", made.st_mode & 0777);
}

typedef void executes(const char *path, char *const *argv);
static void by_execv(const char *path, char *const *argv) { execv(path, argv); }
static void by_execve(const char *path, char *const *argv) { execve(path, argv, environ); }
static void by_execl(const char *path, char *const *argv) { execl(path, argv[0], argv[1], argv[2], NULL); }
static void by_execle(const char *path, char *const *argv) { execle(path, argv[0], argv[1], argv[2], NULL, environ); }
static void by_execvp(const char *path, char *const *argv) { execvp(path, argv); }
static void by_execveat(const char *path, char *const *argv) { execveat(AT_FDCWD, path, argv, environ, 0); }
static void by_fexecve(const char *path, char *const *argv) { fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, environ); }

/* The program that is executed runs this, too. */
static void executes_itself(void)
{
    static executes *const ways[] = {by_execv, by_execve, by_execl, by_execle, by_execvp, by_execveat, by_fexecve};
    char *argv[] = {"itself", "executes_itself", (char *)folder, NULL};
    pid_t child;
    if (getenv("AGAIN"))
        exit(atoi(getenv("AGAIN")));
    snprintf(by_number, sizeof by_number, "/proc/%d/exe", getpid());
    for (int i = 0; i < OWN_NAMES; i++) {
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
            setenv("AGAIN", "7", 1);
            child = fork();
            if (child == 0) {
                ways[way](own_names[i], argv);
                _exit(99);
            }
            SAY("fork %d", status_of(child));
            child = vfork();
            if (child == 0) {
                ways[way](own_names[i], argv);
                _exit(99);
            }
            SAY("vfork %d", status_of(child));
        }
        OK(posix_spawn(&child, own_names[i], NULL, NULL, argv, environ));
        SAY("posix_spawn %d", status_of(child));
        OK(posix_spawnp(&child, own_names[i], NULL, NULL, argv, environ));
        SAY("posix_spawnp %d", status_of(child));
    }
    fflush(stdout);
    execv("/proc/self/exe", argv);
}

static void subreaper(void)
{
    int ends[2];
    OK(pipe(ends));
    OK(prctl(PR_SET_CHILD_SUBREAPER, 1));
    fflush(stdout);
    pid_t child = fork(), grandchild = 0;
    if (child == 0) {
        grandchild = fork();
        if (grandchild == 0)
            _exit(8);
        (void)!write(ends[1], &grandchild, sizeof grandchild);
        _exit(0);
    }
    SAY("%d", status_of(child));
    OK(read(ends[0], &grandchild, sizeof grandchild) != sizeof grandchild);
    SAY("%d", status_of(grandchild));
}

const struct program programs[] = {
    PROGRAM(identity), PROGRAM(forks), PROGRAM(waits), PROGRAM(no_siblings), PROGRAM(vforks), PROGRAM(spawns), PROGRAM(spawns_once), PROGRAM(closes_pipes), PROGRAM(shells), PROGRAM(pipelines),
    PROGRAM(sessions), PROGRAM(users), PROGRAM(users_beside_threads), PROGRAM(directories), PROGRAM(limits), PROGRAM(large_frame), PROGRAM(breaks),
    PROGRAM(scheduling), PROGRAM(replaced), PROGRAM(replaced_by_thread), PROGRAM(opens_its_file), PROGRAM(executes_itself), PROGRAM(subreaper), {NULL, NULL},
};
