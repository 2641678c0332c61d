// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What processes share with one another. Where a name is the system's, each rank has its own. */
#include "posix.h"

#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

static int status_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A name that nobody else has. */
static const char *unique(void)
{
    static char name[64];
    snprintf(name, sizeof name, "/tpsl-posix-%d-%d", (int)getpid(), rank);
    return name;
}

static void *anonymous(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void named_semaphores(void)
{
    sem_t *s = sem_open(unique(), O_CREAT | O_EXCL, 0600, 1), *again = sem_open(unique(), 0);
    int value;
    SAY("the same %d", s == again);
    OK(sem_wait(s));
    errno = 0;
    int rc = sem_trywait(again);
    SAY("%d %m", rc);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(sem_post(s));
    OK(sem_wait(s));
    SAY("%d", status_of(child));
    OK(sem_getvalue(s, &value));
    SAY("%d", value);
    rc = sem_timedwait(s, &(struct timespec){1, 0});
    SAY("%d %m", rc);
    OK(sem_close(again));
    OK(sem_close(s));
    OK(sem_unlink(unique()));
    SAY("%d", sem_open(unique(), 0) == SEM_FAILED);
}

struct both {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_barrier_t barrier;
    pthread_rwlock_t rwlock;
    sem_t semaphore;
    int value;
};

static struct both *both(int robust)
{
    struct both *b = anonymous(sizeof *b);
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    pthread_barrierattr_t a;
    pthread_rwlockattr_t r;
    OK(pthread_mutexattr_init(&m));
    OK(pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED));
    OK(pthread_mutexattr_setrobust(&m, robust));
    OK(pthread_mutex_init(&b->mutex, &m));
    OK(pthread_condattr_init(&c));
    OK(pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED));
    OK(pthread_cond_init(&b->changed, &c));
    OK(pthread_barrierattr_init(&a));
    OK(pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
    OK(pthread_barrier_init(&b->barrier, &a, 2));
    OK(pthread_rwlockattr_init(&r));
    OK(pthread_rwlockattr_setpshared(&r, PTHREAD_PROCESS_SHARED));
    OK(pthread_rwlock_init(&b->rwlock, &r));
    OK(sem_init(&b->semaphore, 1, 0));
    return b;
}

/* With a child of fork. */
static void process_shared(void)
{
    struct both *b = both(PTHREAD_MUTEX_STALLED);
    fflush(stdout);
    pid_t child = fork();
    int me = child == 0;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&b->mutex);
        while (b->value % 2 != me)
            pthread_cond_wait(&b->changed, &b->mutex);
        b->value++;
        pthread_cond_signal(&b->changed);
        pthread_mutex_unlock(&b->mutex);
        pthread_barrier_wait(&b->barrier);
        pthread_rwlock_rdlock(&b->rwlock);
        pthread_rwlock_unlock(&b->rwlock);
    }
    if (me)
        _exit(sem_post(&b->semaphore));
    OK(sem_wait(&b->semaphore));
    SAY("%d %d", b->value, status_of(child));
}

static void robust_across_processes(void)
{
    struct both *b = both(PTHREAD_MUTEX_ROBUST);
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_mutex_lock(&b->mutex);
            if (i)
                raise(SIGKILL);
            _exit(0);
        }
        SAY("%d", status_of(child));
        SAY("%s", strerror(pthread_mutex_lock(&b->mutex)));
        OK(pthread_mutex_consistent(&b->mutex));
        OK(pthread_mutex_unlock(&b->mutex));
    }
}

static void message_queues(void)
{
    struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 64};
    char text[64];
    unsigned priority;
    mqd_t q = mq_open(unique(), O_CREAT | O_EXCL | O_RDWR | O_NONBLOCK, 0600, &a);
    if (q == (mqd_t)-1) {
        SAY("mq_open: %m");
        return;
    }
    for (unsigned i = 0; i < 5; i++) {
        snprintf(text, sizeof text, "message %u", i);
        if (mq_send(q, text, strlen(text) + 1, i % 3) != 0)
            SAY("full: %m");
    }
    while (mq_receive(q, text, sizeof text, &priority) > 0)
        SAY("%s, %u", text, priority);
    OK(mq_getattr(q, &a));
    SAY("%ld of %ld", a.mq_curmsgs, a.mq_maxmsg);
    OK(mq_close(q));
    OK(mq_unlink(unique()));
}

static void shared_memory(void)
{
    int fd = shm_open(unique(), O_CREAT | O_EXCL | O_RDWR, 0600);
    OK(ftruncate(fd, 8192));
    int *one = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    SAY("two addresses %d", one != two);
    one[5] = 42;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        two[6] = one[5] + 1;
        _exit(0);
    }
    SAY("%d", status_of(child));
    SAY("%d %d", two[5], one[6]);
    OK(munmap(two, 4096));
    SAY("%d", two[1024]);
    OK(munmap(one, 8192));
    OK(munmap(two + 1024, 4096));
    OK(shm_unlink(unique()));
    close(fd);
}

static void system_v(void)
{
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    int *p = shmat(id, NULL, 0), *q = shmat(id, NULL, SHM_RDONLY);
    struct shmid_ds about;
    OK(shmctl(id, IPC_RMID, NULL));
    *p = 7;
    /* A child that another private rank has forked counts until it ends. */
    for (int i = 0; shmctl(id, IPC_STAT, &about) == 0 && about.shm_nattch > 2 && i < 10000; i++)
        usleep(1000);
    SAY("%d, attached %lu", *q, about.shm_nattch);
    OK(shmdt(p));
    OK(shmdt(q));
    /* No segment begins here. What p and q were may be another private rank's by now. */
    int rc = shmdt((char *)p + 1);
    SAY("%d %m", rc);
    id = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600);
    OK(semctl(id, 0, SETVAL, 1));
    struct sembuf down = {0, -1, SEM_UNDO | IPC_NOWAIT};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(semop(id, &down, 1));
    SAY("%d", status_of(child));
    SAY("undone %d", semctl(id, 0, GETVAL));
    OK(semop(id, &down, 1));
    rc = semop(id, &down, 1);
    SAY("%d %m", rc);
    OK(semctl(id, 0, IPC_RMID));
    struct {
        long type;
        char text[16];
    } m = {3, "by type"};
    id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    OK(msgsnd(id, &m, sizeof m.text, 0));
    rc = (int)msgrcv(id, &m, sizeof m.text, 2, IPC_NOWAIT);
    SAY("%d %m", rc);
    rc = (int)msgrcv(id, &m, sizeof m.text, 3, 0);
    SAY("%d %s", rc, m.text);
    OK(msgctl(id, IPC_RMID, NULL));
}

/* A lock is taken by another process: a child says what it sees. */
static int seen_by_child(int fd, int kind)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int own = open(path_of("locked"), O_RDWR);
        if (kind == 0)
            _exit(fcntl(own, F_SETLK, &l) == 0 ? 0 : errno == EAGAIN || errno == EACCES ? 1 : 2);
        if (kind == 1)
            _exit(flock(own, LOCK_EX | LOCK_NB) == 0 ? 0 : errno == EWOULDBLOCK ? 1 : 2);
        _exit(lockf(own, F_TEST, 0) == 0 ? 0 : 1);
    }
    return status_of(child);
}

static void locks_on_files(void)
{
    int fd = open(path_of("locked"), O_CREAT | O_RDWR, 0600);
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
    OK(fcntl(fd, F_SETLK, &l));
    SAY("%d %d", seen_by_child(fd, 0), seen_by_child(fd, 2));
    close(open(path_of("locked"), O_RDWR)); /* which gives the lock up: POSIX */
    SAY("%d", seen_by_child(fd, 0));
    OK(flock(fd, LOCK_EX));
    SAY("%d", seen_by_child(fd, 1));
    OK(flock(fd, LOCK_UN));
    SAY("%d", seen_by_child(fd, 1));
    OK(fcntl(fd, F_OFD_SETLK, &(struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET}));
    SAY("%d", seen_by_child(fd, 0));
    OK(lockf(dup(fd), F_ULOCK, 0));
}

static void memory_files(void)
{
    int fd = memfd_create("posix", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    OK(write(fd, "sealed", 6) != 6);
    OK(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_WRITE));
    int rc = (int)write(fd, "x", 1);
    SAY("%d %m", rc);
    char link[64], text[64] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    (void)!readlink(link, text, sizeof text - 1);
    SAY("%s", text);
}

static void event_descriptors(void)
{
    int fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK), e = epoll_create1(EPOLL_CLOEXEC);
    eventfd_t n;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 17};
    OK(epoll_ctl(e, EPOLL_CTL_ADD, fd, &event));
    SAY("%d", epoll_wait(e, &event, 1, 0));
    OK(eventfd_write(fd, 2));
    SAY("%d", epoll_wait(e, &event, 1, 0));
    SAY("%u", event.data.u32);
    while (eventfd_read(fd, &n) == 0)
        SAY("%lu", (unsigned long)n);
    SAY("%m");
}

static void watched_files(void)
{
    char buffer[4096] __attribute__((aligned(8)));
    int fd = inotify_init1(IN_CLOEXEC);
    OK(inotify_add_watch(fd, folder, IN_CREATE | IN_MOVED_TO) < 0);
    close(open(path_of("one"), O_CREAT | O_WRONLY, 0600));
    OK(rename(path_of("one"), path_of("two")));
    ssize_t n = read(fd, buffer, sizeof buffer);
    for (ssize_t at = 0; at < n;) {
        struct inotify_event *e = (struct inotify_event *)(buffer + at);
        SAY("%x %s", e->mask, e->name);
        at += (ssize_t)sizeof *e + e->len;
    }
}

static void sockets(void)
{
    int ends[2], given = open(path_of("given"), O_CREAT | O_RDWR, 0600);
    OK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
    fflush(stdout);
    pid_t child = fork();
    char control[CMSG_SPACE(sizeof(int))] = "", text[16] = "";
    struct iovec io = {text, sizeof text};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (child == 0) {
        OK(recvmsg(ends[1], &m, 0) < 0);
        int fd = *(int *)CMSG_DATA(CMSG_FIRSTHDR(&m));
        (void)!write(fd, text, strlen(text));
        _exit(0);
    }
    strcpy(text, "by descriptor");
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &given, sizeof given);
    OK(sendmsg(ends[0], &m, 0) < 0);
    SAY("%d", status_of(child));
    struct ucred who;
    socklen_t size = sizeof who;
    OK(getsockopt(ends[0], SOL_SOCKET, SO_PEERCRED, &who, &size));
    SAY("%d", who.pid == getpid());
    struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "listening"};
    OK(chdir(folder));
    int s = socket(AF_UNIX, SOCK_STREAM, 0), other = socket(AF_UNIX, SOCK_STREAM, 0);
    OK(bind(s, (struct sockaddr *)&at, sizeof at));
    OK(listen(s, 1));
    OK(connect(other, (struct sockaddr *)&at, sizeof at));
    OK(write(other, "hello", 6) != 6);
    OK(read(accept(s, NULL, NULL), text, 6) != 6);
    SAY("%s", text);
}

static void mappings(void)
{
    char *private = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *shared = anonymous(4096);
    strcpy(private, "before");
    strcpy(shared, "before");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        strcpy(private, "child");
        strcpy(shared, "child");
        _exit(0);
    }
    SAY("%d %s %s", status_of(child), private, shared);
    OK(madvise(private, 4096, MADV_DONTNEED));
    SAY("%d", private[0]);
    char *moved = mremap(private, 3 * 4096, 6 * 4096, MREMAP_MAYMOVE);
    SAY("%d", moved != MAP_FAILED);
    OK(munmap(moved + 4096, 4096));
    OK(mlock(moved, 4096));
    OK(munlock(moved, 4096));
    unsigned char there[1];
    int rc = mincore(moved, 4096, there); /* the page after it may be another private rank's by now */
    SAY("%d %d", rc, there[0] & 1);
    int fd = open(path_of("mapped"), O_CREAT | O_RDWR, 0600);
    OK(ftruncate(fd, 5));
    char *file = mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memcpy(file, "text", 4);
    OK(msync(file, 5, MS_SYNC));
    OK(munmap(file, 5));
}

static void *map_all(int fd)
{
    void *address = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    OK(address == MAP_FAILED);
    return address;
}

/* Rank 0 does this and that to its mapping of what all have mapped. */
static void change_mapping(int fd)
{
    int *p = map_all(fd);
    p[rank] = rank + 1;
    step();
    if (rank == 0)
        OK(mprotect(p, 65536, PROT_READ));
    step();
    if (rank == 1)
        p[1] = 5;
    step();
    if (rank == 0)
        ((int *)mmap(p, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0))[1] = 99;
    step();
    SAY("%d", p[1]);
    char *moved = map_all(fd);
    step();
    if (rank == 0)
        OK(mremap(moved, 65536, 1 << 20, MREMAP_MAYMOVE) == MAP_FAILED);
    step();
    if (rank != 0)
        SAY("%d", moved[0]);
    char *kept = map_all(fd);
    step();
    if (rank == 0)
        OK(madvise(kept, 65536, MADV_DONTFORK));
    step();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(kept[0]);
    SAY("%d", status_of(child));
}

static void changed_mappings(void)
{
    char name[64];
    struct stat parent;
    int file = open(path_of("../file"), O_CREAT | O_RDWR, 0600);
    OK(ftruncate(file, 65536));
    change_mapping(file);
    OK(stat(path_of(".."), &parent));
    snprintf(name, sizeof name, "/tpsl-posix-%ju", (uintmax_t)parent.st_ino); /* the same in all ranks */
    int memory = shm_open(name, O_CREAT | O_RDWR, 0600);
    OK(ftruncate(memory, 65536));
    step();
    if (rank == 0)
        OK(shm_unlink(name));
    change_mapping(memory);
}

const struct program programs[] = {
    PROGRAM(named_semaphores), PROGRAM(process_shared), PROGRAM(robust_across_processes), PROGRAM(message_queues), PROGRAM(shared_memory),
    PROGRAM(system_v), PROGRAM(locks_on_files), PROGRAM(memory_files), PROGRAM(event_descriptors), PROGRAM(watched_files), PROGRAM(sockets),
    PROGRAM(mappings), PROGRAM(changed_mappings), {NULL, NULL},
};
