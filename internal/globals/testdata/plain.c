// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include <getopt.h>
#include <stdio.h>

int rank;
static double table[4] = {1};
char large[1 << 20];
const int constant = 3;
static const char *const names[] = {"a", "b"};
_Thread_local int own;

static int count(void)
{
	static int calls;
	return ++calls;
}

static int again(void)
{
	static int calls = 7;
	return ++calls;
}

int main(int argc, char **argv)
{
	optind = rank = argc;
	large[argc] = argv[0][0] + names[argc % 2][0];
	table[argc % 4] += constant + own;
	fprintf(stdout, "%d\n", rank + count() + again() + large[0] + (int)table[0]);
}
