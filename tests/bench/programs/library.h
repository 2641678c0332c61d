/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * library.h: says which MPI and UCX libraries this process runs, so that the
 * driver can refuse to compare different ones. Call print_library once per
 * job, after MPI_Init. Every copy of a library, ours too, is mapped from its
 * file, and the stand-ins of lib/tpsl have no code.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* print_mapped prints each file with code whose name begins so, once. */
static void print_mapped(const char *name)
{
	char line[4200], seen[4200] = "";
	FILE *maps = fopen("/proc/self/maps", "r");

	if (!maps) {
		perror("read /proc/self/maps");
		exit(1);
	}
	while (fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/'), *base = strrchr(line, '/');

		if (!path || !strstr(line, " r-xp ") || strncmp(base + 1, name, strlen(name)) != 0)
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (strcmp(path, seen) != 0)
			printf(" %s", path);
		strcpy(seen, path);
	}
	fclose(maps);
}

static void print_library(void)
{
	printf("library:");
	print_mapped("libmpich.so");
	print_mapped("libmpi.so");
	print_mapped("libucp.so");
	printf("\n");
}
