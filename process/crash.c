// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The report of a crash: which rank, what happened, where, and the frames with offsets for addr2line.
 * It runs in the signal handler of a broken process, so it takes no lock, calls no malloc, and makes
 * one write per line. A fault inside the report ends the report, and the crash takes its course. A
 * thread without thread-local variables, in which libc does not work, gets one line.
 */
#include "process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "loader.h"

enum { FRAMES = 64, LINE = 1024, LONGEST_PATH = LINE / 2 };

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    char line[LINE];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (n >= LINE)
        line[(n = LINE) - 1] = '\n';
    (void)!write(STDERR_FILENO, line, (size_t)n);
}

/* "object+0x12 (symbol+0x3)", as far as it is known. */
static const char *describe(char text[LINE], const char *object, const struct tpsl_location *at, uintptr_t pc)
{
    if (at->symbol)
        snprintf(text, LINE, "%s+%#lx (%s+%#lx)", object, pc - at->base, at->symbol, pc - at->symbol_start);
    else
        snprintf(text, LINE, "%s+%#lx", object, pc - at->base);
    return text;
}

/* The path of a frame's file, by which the launcher finds its debugging information. It is the name alone if a line has
 * no room for the path. */
static const char *path_of(char text[LONGEST_PATH], const struct tpsl_location *at)
{
    if (*at->path)
        return strlen(at->path) < LONGEST_PATH ? at->path : at->object;
    ssize_t n = readlink("/proc/self/exe", text, LONGEST_PATH);
    if (n <= 0 || n == LONGEST_PATH)
        return at->object;
    text[n] = '\0';
    return text;
}

/* The part of the report that says what happened. */
static void say_what(const char *whom, int signal, const siginfo_t *info, uintptr_t pc)
{
    char where[LINE], why[64] = "";
    struct tpsl_location at;
    if (tpsl_locate((void *)pc, &at))
        describe(where, at.object, &at, pc);
    else
        snprintf(where, sizeof where, "%#lx, which is in no library", pc);
    bool has_address = (signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0 && info->si_code != SI_KERNEL;
    if (has_address)
        snprintf(why, sizeof why, " at address %p", info->si_addr);
    else if (info->si_code == SI_USER && info->si_pid != getpid())
        snprintf(why, sizeof why, " sent by process %d", info->si_pid);
    say("tpsl: %s: SIG%s%s in %s\n", whom, sigabbrev_np(signal), why, where);
}

/* A walk up the stack. The handler's own frames come first, until that with `start`. */
struct walk {
    uintptr_t start;
    bool called; /* start is where a call would have returned to */
    bool started;
    int frames; /* told already */
};

static bool tell_frame(uintptr_t pc, bool exact, void *data)
{
    struct walk *w = data;
    struct tpsl_location at;
    char where[LINE], path[LONGEST_PATH];
    w->started |= pc == w->start;
    if (!w->started)
        return true;
    if (w->called && pc == w->start)
        exact = false;
    if (!exact)
        pc--;
    if (tpsl_locate((void *)pc, &at))
        say("tpsl:   #%d %s\n", w->frames, describe(where, path_of(path, &at), &at, pc));
    else
        say("tpsl:   #%d %#lx, which is in no library\n", w->frames, pc);
    return ++w->frames < FRAMES;
}

/* A call through a bad pointer has no frame to unwind: its caller's return address is on
 * top of the stack, and the walk goes on as if the call had returned. */
static void tell_frames(greg_t *registers)
{
    struct tpsl_location at;
    struct walk w = {.start = (uintptr_t)registers[REG_RIP]};
    if (!tpsl_locate((void *)w.start, &at)) {
        say("tpsl:   #%d %#lx\n", w.frames++, w.start);
        registers[REG_RIP] = *(greg_t *)registers[REG_RSP];
        registers[REG_RSP] += 8;
        w.start = (uintptr_t)registers[REG_RIP];
        w.called = true;
    }
    tpsl_stack_walk(tell_frame, &w);
}

static _Atomic int reporter; /* thread that reports; the first crash is the one to tell */
static _Atomic bool done;
static _Atomic bool can_leave; /* the report, by the next line */
static sigjmp_buf out_of_report;

/* Waits while another thread reports, because the end of this thread ends the process. */
static void wait_for_report(void)
{
    const struct timespec tick = {0, 10000000};
    for (int i = 0; i < 200 && !atomic_load(&done); i++)
        nanosleep(&tick, NULL);
}

void tpsl_crash_report(const char *whom, int signal, siginfo_t *info, void *context)
{
    int nobody = 0;
    if (!atomic_compare_exchange_strong(&reporter, &nobody, gettid())) {
        if (nobody != gettid())
            wait_for_report();
        else if (atomic_exchange(&can_leave, false))
            siglongjmp(out_of_report, 1);
        return;
    }
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const greg_t pc = registers[REG_RIP], sp = registers[REG_RSP];
    if (sigsetjmp(out_of_report, 0) == 0) {
        atomic_store(&can_leave, true);
        say_what(whom, signal, info, (uintptr_t)pc);
        tell_frames(registers);
        atomic_store(&can_leave, false);
    } else {
        say("tpsl:   the stack cannot be followed further\n");
    }
    registers[REG_RIP] = pc;
    registers[REG_RSP] = sp;
    atomic_store(&done, true);
}

/* printf reads the locale of the thread. */
static char *hexadecimal(char *to, uintptr_t value)
{
    for (int shift = 60; shift >= 0; shift -= 4)
        *to++ = "0123456789abcdef"[value >> shift & 15];
    return to;
}

void tpsl_crash_without_thread(uintptr_t pc)
{
    static const char text[] = "tpsl: a thread crashed without thread-local variables, at 0x";
    char line[sizeof text + 17];
    memcpy(line, text, sizeof text - 1);
    char *end = hexadecimal(line + sizeof text - 1, pc);
    *end++ = '\n';
    syscall(SYS_write, STDERR_FILENO, line, (size_t)(end - line)); /* write() finds out whether the thread is to be cancelled */
}
