// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A shared library with one of each thing that the package reads. Of both
 * versions of versioned, V1 is hidden and V2 the default. */
#include <stdlib.h>

int first_version(void) { return 1; }
int second_version(void) { return 2; }
__asm__(".symver first_version, versioned@V1");
__asm__(".symver second_version, versioned@@V2");

int only_hidden(void) { return 3; }
__asm__(".symver only_hidden, retired@V1");

static int implementation(void) { return 4; }
static void *resolver(void) { return (void *)implementation; }
int chosen(void) __attribute__((ifunc("resolver")));

__thread int thread_value = 7;
__thread char thread_zeros[100];

__asm__(".globl unique\n"
	".type unique, @gnu_unique_object\n"
	".size unique, 8\n"
	".pushsection .data\n"
	".balign 8\n"
	"unique: .quad 5\n"
	".popsection\n");

int weak_value __attribute__((weak)) = 8;
__attribute__((visibility("hidden"))) int hidden_value = 9;
static int own[100] = {1};
extern int target[100] __attribute__((alias("own")));
char zeros[10000];

/* More than 63 words, so that packed relocations need two bitmaps. */
#define ROW(i) &own[i], &own[i + 1], &own[i + 2], &own[i + 3], &own[i + 4]
int *pointers[] = {
	ROW(0), ROW(5), ROW(10), ROW(15), ROW(20), ROW(25), ROW(30), ROW(35), ROW(40), ROW(45),
	ROW(50), ROW(55), ROW(60), ROW(65), ROW(70), ROW(75), ROW(80), ROW(85), ROW(90), ROW(95),
};

__attribute__((constructor)) static void begin(void) { hidden_value++; }
__attribute__((destructor)) static void end(void) { hidden_value--; }

int use(void)
{
	return thread_value + thread_zeros[0] + (getenv("HOME") != NULL) + hidden_value;
}
