// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

static int x;
__asm__(".text\n.quad x_alias\n");
extern int x_alias __attribute__((alias("x")));
int use(void) { return x; }
