// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* behind FILE: rank 0 exits while a thread of it stays inside ld.so, with ld.so's lock. The other rank asks for that lock when the
 * thread has it, which the file tells. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int inside;

static int stay(struct dl_phdr_info *info, size_t size, void *file)
{
	close(creat(file, 0600));
	atomic_store(&inside, 1);
	for (;;)
		pause();
}

static int look(struct dl_phdr_info *info, size_t size, void *unused) { return 0; }

static void *enter(void *file)
{
	dl_iterate_phdr(stay, file);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	if (atoi(getenv("PMI_RANK")) == 0) {
		pthread_create(&thread, NULL, enter, argv[1]);
		while (!atomic_load(&inside))
			usleep(1000);
		return 0;
	}
	while (access(argv[1], F_OK) != 0)
		usleep(1000);
	dl_iterate_phdr(look, NULL);
	puts("the other went on");
	fflush(stdout);
	pause();
}
