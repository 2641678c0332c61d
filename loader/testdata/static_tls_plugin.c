// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

static __thread int counted = 5;
int bump_plugin(void) { return ++counted; }
