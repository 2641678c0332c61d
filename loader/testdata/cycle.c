// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* One of two libraries that need each other. */
#define COUNT(name) COUNT_(name)
#define COUNT_(name) name##_counts
static int calls;
int COUNT(OTHER)(void) __attribute__((weak));
int COUNT(ONE)(void) { return ++calls; }
int ONE(void) { return 10 * COUNT(ONE)() + COUNT(OTHER)(); }
