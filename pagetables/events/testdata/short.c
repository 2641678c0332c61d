/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * short: threads of short lives, of which some run at any time. It begins when it reads a line, and
 * ends with its input.
 */

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { AT_ONCE = 64 };

static void *live(void *arg)
{
	for (int i = 0; i < 20; i++)
		getppid();
	return arg;
}

int main(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	pthread_t threads[AT_ONCE];

	getchar();
	for (int i = 0; poll(&input, 1, 0) == 0; i++) {
		if (i >= AT_ONCE)
			pthread_join(threads[i % AT_ONCE], NULL);
		pthread_create(&threads[i % AT_ONCE], NULL, live, NULL);
	}
	return 0;
}
