// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A position-independent program: its reference to a library's variable is a COPY. */
extern int shared_value;
extern int *where_library_has_it(void);
int value(void) { return shared_value; }
int same_address(void) { return where_library_has_it() == &shared_value; }
int main(void) { return 0; }
