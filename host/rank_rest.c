// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The end of a rank ends its threads wherever they are. A thread that holds a lock of libc's malloc or
 * of ld.so would leave it held for ever, and the other ranks need it. So before a rank ends, or
 * executes another program, its other threads are brought to rest outside such code.
 *
 * Each gets the signal that libc uses for setuid: no program blocks it, and a rank that ends does not
 * call setuid. The handler rests if the thread was outside the objects that all ranks share, asleep
 * in a system call that is not about one of their locks, or in a function such as write. Else it returns,
 * and the signal is sent again a little later. A thread behind the gate (gate.c of the loader) rests when
 * it has left it: a thread that calls such functions all the time would hardly ever be found outside.
 */
#include "host.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    REST = 33,              /* SIGSETXID of nptl */
    PATIENCE_MS = 5000,     /* a thread that stays inside is then left behind, and the set ends; forks wait as long */
    ARENA = 64 << 20,       /* malloc's arenas but the first start at multiples of it */
    ARENA_HEADER = 2048,    /* their locks are in here, and nothing that malloc gives away: that begins after 2248 bytes */
    OBJECTS = 64,
};

/* ---- what all ranks share ---- */

struct range {
    uintptr_t start, end;
};
static struct ranges {
    struct range list[OBJECTS];
    size_t n;
} code, data, /* of what ld.so loaded: libc, ld.so, this library, libgcc_s */
    transfers; /* functions of libc */

static bool holds(const struct ranges *r, uintptr_t address)
{
    for (size_t i = 0; i < r->n; i++)
        if (address >= r->list[i].start && address < r->list[i].end)
            return true;
    return false;
}

static void add(struct ranges *to, uintptr_t start, size_t size)
{
    if (to->n < OBJECTS)
        to->list[to->n++] = (struct range){start, start + size};
}

static int note(struct dl_phdr_info *info, size_t size, void *unused)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & (PF_X | PF_W))
            add(p->p_flags & PF_X ? &code : &data, info->dlpi_addr + p->p_vaddr, p->p_memsz);
    }
    return 0;
}

/* Functions of libc that are a system call and little more, and that a signal may end with a part of their work done. A
 * thread that calls them again and again may never be seen asleep then. They take no lock. Nor does libc call them with a
 * lock that ranks share: what does is behind the gate, but for malloc_stats. stdio has the lock of a stream then, which is
 * the rank's own. */
static void note_transfers(void)
{
    static const char *const names[] = {
        "write", "writev", "pwrite64", "pwritev", "pwritev2", "send", "sendto", "sendmsg", "sendmmsg", "read", "readv", "recv", "recvfrom", "recvmsg", "recvmmsg",
        "sendfile", "splice", "tee", "vmsplice", "copy_file_range",
    };
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Dl_info info;
        const ElfW(Sym) *symbol;
        if (dladdr1(dlsym(libc, names[i]), &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol)
            add(&transfers, (uintptr_t)info.dli_saddr, symbol->st_size);
    }
}

/* Before anything is opened, so only ld.so's objects are seen. */
void tpsl_rest_prepare(void)
{
    dl_iterate_phdr(note, NULL);
    note_transfers();
}

static bool is_shared_code(uintptr_t pc)
{
    enum tpsl_owner owner = tpsl_owner_of((void *)pc);
    return owner == TPSL_OF_ALL_INSTANCES || (owner == TPSL_OF_PROCESS && holds(&code, pc));
}

static bool is_shared_lock(uintptr_t address)
{
    return holds(&data, address) || (address > ARENA && address % ARENA < ARENA_HEADER);
}

/* ---- where a thread is ---- */

/* System calls in which a thread may sleep for as long as it likes. */
static bool sleeps(long number)
{
    static const short calls[] = {
        SYS_read, SYS_readv, SYS_pread64, SYS_preadv, SYS_write, SYS_writev, SYS_open, SYS_openat, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6,
        SYS_epoll_wait, SYS_epoll_pwait, SYS_nanosleep, SYS_clock_nanosleep, SYS_restart_syscall, SYS_futex, SYS_wait4, SYS_waitid, SYS_pause,
        SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_accept, SYS_accept4, SYS_connect, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg,
        SYS_sendmmsg, SYS_flock, SYS_fcntl, SYS_semop, SYS_semtimedop, SYS_msgrcv, SYS_msgsnd, SYS_mq_timedreceive, SYS_mq_timedsend, SYS_io_getevents,
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == number)
            return true;
    return false;
}

/* Whether the signal found the thread asleep. The kernel goes back to the system call's instruction if it is to be
 * called again, and else ends it with EINTR (signal(7), "Interruption of system calls"). */
static bool is_asleep(const struct tpsl_interruption *at)
{
    static const unsigned char instruction[] = {0x0f, 0x05};
    const unsigned char *pc = (const unsigned char *)at->pc;
    bool again = memcmp(pc, instruction, sizeof instruction) == 0 && sleeps(at->result);
    return again || (memcmp(pc - 2, instruction, sizeof instruction) == 0 && at->result == -EINTR);
}

/* It may hold a lock there that all ranks share. */
static bool is_inside(const struct tpsl_interruption *at)
{
    return is_shared_code(at->pc) && !holds(&transfers, at->pc) && (!is_asleep(at) || is_shared_lock(at->operand));
}

bool tpsl_interrupted_libc(void)
{
    return tpsl_interrupted(is_inside);
}

/* In the handler its own interruption counts. */
static bool may_rest(void)
{
    return !tpsl_gate_inside() && !tpsl_thread_ends() && !tpsl_interrupted_libc();
}

/* ---- rest ---- */

static void wait_on(atomic_int *word, int value, const struct timespec *limit)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, limit, NULL, 0);
}

static void wake(atomic_int *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Rests while a thread ends the rank. A thread that has stopped resting looks once more: another one may have begun to end the rank
 * meanwhile, after an exec that failed, and may have counted it. No handler of the program runs meanwhile. */
static void rest(struct tpsl_rank_process *r)
{
    uint64_t all = ~(uint64_t)0, before;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
    do {
        atomic_fetch_add(&r->resting, 1);
        wake(&r->resting);
        for (pid_t ender; (ender = atomic_load(&r->ender)) != 0;)
            wait_on(&r->ender, ender, NULL);
        atomic_fetch_sub(&r->resting, 1);
    } while (atomic_load(&r->ender));
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}

static void rest_if_asked(void)
{
    int error = errno;
    struct tpsl_rank_process *r = tpsl_rank_of(getpid());
    if (r && atomic_load(&r->ender)) {
        if (may_rest())
            rest(r);
        else if (tpsl_gate_inside())
            tpsl_gate_then(rest_if_asked);
    }
    errno = error;
}

/* As the kernel has it: libc keeps programs from this signal. */
struct action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
static struct action libcs; /* all ranks have the same */

static void on_rest(int number, siginfo_t *info, void *context)
{
    if (info->si_code == SI_QUEUE)
        rest_if_asked();
    else
        libcs.handler(number, info, context); /* setuid, after an exec that failed */
}

static void handle_rest(void)
{
    struct action before;
    syscall(SYS_rt_sigaction, REST, NULL, &before, sizeof before.mask);
    if (before.handler != on_rest)
        libcs = before;
    struct action ours = {on_rest, before.flags | SA_SIGINFO | SA_RESTART | SA_ONSTACK, before.restorer, ~(uint64_t)0};
    syscall(SYS_rt_sigaction, REST, &ours, NULL, sizeof ours.mask);
}

/* One that the kernel writes (getdents64(2)). */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* How many threads of the process an action says yes to. The kernel's list ends early if a thread ends meanwhile. */
static int count(int tasks, bool (*action)(int tasks, const char *tid))
{
    _Alignas(struct entry) char buffer[4096];
    int yes = 0;
    lseek(tasks, 0, SEEK_SET);
    for (long n; (n = syscall(SYS_getdents64, tasks, buffer, sizeof buffer)) > 0;)
        for (long at = 0; at < n; at += ((struct entry *)(buffer + at))->length) {
            const char *name = ((struct entry *)(buffer + at))->name;
            yes += name[0] != '.' && action(tasks, name);
        }
    return yes;
}

static int open_tasks(void)
{
    return open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool call(int tasks, const char *tid)
{
    siginfo_t info = {.si_signo = REST, .si_code = SI_QUEUE};
    return atoi(tid) != gettid() && syscall(SYS_rt_tgsigqueueinfo, getpid(), atoi(tid), REST, &info) == 0;
}

static bool is_kernels(int tasks, const char *tid)
{
    enum { IO_WORKER = 0x10, USER_WORKER = 0x4000 }; /* flags of sched.h of the kernel, the 9th word of proc_pid_stat(5) */
    char path[32], text[512];
    unsigned int flags = 0;
    snprintf(path, sizeof path, "%s/stat", tid);
    int stat = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = stat < 0 ? -1 : read(stat, text, sizeof text - 1);
    if (stat >= 0)
        close(stat);
    text[n < 0 ? 0 : n] = 0;
    const char *after_name = strrchr(text, ')');
    return after_name && sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && flags & (IO_WORKER | USER_WORKER);
}

int tpsl_kernel_threads(void)
{
    int tasks = open_tasks(), n = tasks < 0 ? 0 : count(tasks, is_kernels);
    if (tasks >= 0)
        close(tasks);
    return n;
}

/* The folder has a link for each, and two of its own. To read that takes no descriptor. */
int tpsl_threads(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 ? (int)tasks.st_nlink - 2 : 0;
}

/* False: a thread was not seen outside of libc. When all that there are rest, no other one comes. So who rests is counted before the
 * threads are. Every sixteenth pause is long, because the kernel begins a clone anew if a signal comes. Threads of the kernel take no
 * signal, and no lock of libc. They are rare, and looked for as often. */
static bool bring_to_rest(struct tpsl_rank_process *r)
{
    static const struct timespec usual = {0, 200000}, longer = {0, 10000000};
    bool rested = false;
    int tasks = open_tasks();
    if (tasks < 0)
        return true; /* hardly anybody has threads and no descriptor left */
    long end = tpsl_milliseconds() + PATIENCE_MS;
    for (int round = 1; !rested && tpsl_milliseconds() < end; round++) {
        int resting = atomic_load(&r->resting);
        bool seldom = round % 16 == 0;
        rested = tpsl_threads() - (seldom ? tpsl_kernel_threads() : 0) <= 1 + resting;
        if (!rested) {
            count(tasks, call);
            wait_on(&r->resting, resting, seldom ? &longer : &usual);
        }
    }
    close(tasks);
    return rested;
}

void tpsl_rank_rest(void)
{
    struct tpsl_rank_process *r = tpsl_rank_of(getpid());
    pid_t me = gettid();
    if (!r || atomic_load(&r->ender) == me) /* a handler, which interrupted us */
        return;
    bool unclean = tpsl_gate_inside() || tpsl_interrupted_libc();
    for (pid_t nobody = 0; !atomic_compare_exchange_strong(&r->ender, &nobody, me); nobody = 0) {
        r->unclean |= unclean;
        rest(r);
    }
    r->unclean |= unclean;
    handle_rest();
    r->unclean |= !bring_to_rest(r);
    tpsl_gate_open(); /* which a thread that is left behind may have closed */
}

void tpsl_rank_go_on(void)
{
    struct tpsl_rank_process *r = tpsl_rank_of(getpid());
    if (!r)
        return;
    r->unclean = false;
    atomic_store(&r->ender, 0);
    wake(&r->ender);
}

bool tpsl_rank_ends(void)
{
    const struct tpsl_rank_process *r = tpsl_rank_of(getpid());
    return r && atomic_load(&r->ender);
}
