// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Uses another library's thread-local at a fixed distance from the thread pointer. */
#ifdef ANY_MODEL
extern __thread int others;
#else
extern __thread int others __attribute__((tls_model("initial-exec")));
#endif
extern int *where_library_has_it(void);
int bump(void) { return ++others; }
int same_address(void) { return where_library_has_it() == &others; }
