// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

static int calls;
int helper_value(void) { return ++calls; }
