// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* With ONCE, a library of which there is one copy, and which calls what opened it. */
#ifdef ONCE
extern int called_back(void);
int call_back(void) { return called_back(); }
#else
static int calls;
void *kept; /* for the test */
int call_back(void);
int called_back(void) { return ++calls; }
int go(void) { return call_back(); }
#endif
