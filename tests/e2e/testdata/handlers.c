/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * handlers: what the kernel does with a handler of the program, it does with thread ranks too. The word says which.
 */
#include <mpi.h>

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t calls;
static int *volatile nowhere;
static sigjmp_buf out;

static void say(const char *text)
{
    (void)!write(STDOUT_FILENO, text, strlen(text));
}

static void fault(void)
{
    *nowhere = 1;
}

static void returns(int signal)
{
    say("handler\n");
    if (++calls > 3)
        _exit(9);
}

static void faults(int signal)
{
    say("handler\n");
    if (++calls > 3)
        _exit(9);
    fault();
}

static void tells_mask(int signal)
{
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    printf("itself %d, usr1 %d, usr2 %d\n", sigismember(&now, signal), sigismember(&now, SIGUSR1), sigismember(&now, SIGUSR2));
    siglongjmp(out, 1);
}

static void install(int signal, void (*handler)(int), int flags)
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&act.sa_mask);
    sigaddset(&act.sa_mask, SIGUSR1);
    sigaction(signal, &act, NULL);
}

static void forked(void)
{
    if (fork() == 0)
        abort();
    sleep(0);
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    if (strcmp(word, "once") == 0)
        install(SIGSEGV, returns, SA_RESETHAND);
    else if (strcmp(word, "again") == 0)
        install(SIGSEGV, faults, 0);
    else if (strcmp(word, "mask") == 0)
        install(SIGSEGV, tells_mask, 0);
    else if (strcmp(word, "nodefer") == 0)
        install(SIGSEGV, tells_mask, SA_NODEFER);
    else if (strcmp(word, "ignored") == 0)
        signal(SIGFPE, SIG_IGN);
    MPI_Init(&argc, &argv);
    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(word, "ignored") == 0)
        raise(SIGFPE);
    else if (strcmp(word, "forked") == 0)
        forked();
    else if (sigsetjmp(out, 1) == 0)
        fault();
    else
        install(SIGSEGV, SIG_DFL, 0);
    say("end\n");
    MPI_Finalize();
    return 0;
}
