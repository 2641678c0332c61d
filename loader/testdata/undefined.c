// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

int no_such_a(void);
int no_such_b(void);
int call(void) { return no_such_a() + no_such_b(); }
