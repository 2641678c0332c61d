// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

int shared_value = 77;
int *where_library_has_it(void) { return &shared_value; }
