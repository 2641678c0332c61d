/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* asked: how often libtpslyield asks UCX when a process was created. This file is also the UCX behind it (-DUCX). The clock is
 * the program's own. */
#include <sys/types.h>

#ifdef UCX
int asked;

unsigned long ucs_sys_get_proc_create_time(pid_t pid)
{
	asked++;
	return pid == 1 ? 0 : 1000 * pid; /* that of process 1 is not known */
}
#else
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

unsigned long ucs_sys_get_proc_create_time(pid_t pid);
extern int asked;

static long passed; /* ns */

int clock_gettime(clockid_t clock, struct timespec *t)
{
	return *t = (struct timespec){ .tv_sec = 1 + passed / 1000000000, .tv_nsec = passed % 1000000000 }, 0;
}

static void ask(const char *what, pid_t pid, long apart)
{
	unsigned long want = pid == 1 ? 0 : 1000 * pid;
	int wrong = 0;
	asked = 0;
	for (int i = 0; i < 5; i++, passed += apart)
		wrong += ucs_sys_get_proc_create_time(pid) != want;
	printf("%s: asked %d times of 5, %d wrong\n", what, asked, wrong);
}

int main(void)
{
	ask("itself", getpid(), 1000000000);
	ask("another, soon", 2, 100000);
	ask("the next one, soon", 3, 100000);
	ask("the one before, soon", 2, 100000);
	passed += 1000000;
	ask("another, now and then", 3, 2000000);
	ask("one not known", 1, 0);
	ask("itself again", getpid(), 0);
	fflush(stdout);
	if (fork() == 0) {
		ask("a child of itself", getpid(), 1000000000);
		return 0;
	}
	wait(NULL);
	return 0;
}
#endif
