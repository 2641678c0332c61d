// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

__thread int others = 30;
#ifdef BIG
static __thread char big[BIG];
char *where_big_is(void) { return big; }
#endif
int *where_library_has_it(void) { return &others; }
