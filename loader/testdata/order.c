// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Writes down who is started and ended when: to be compiled as several libraries. */
#include <stdlib.h>
#include <string.h>

#ifdef LOWEST
static char room[64];
static char *lowest_log = room;
void note(const char *what) { strcat(lowest_log, what); }
void note_to(char *where) { lowest_log = strcpy(where, lowest_log); }
#else
void note(const char *what);
void note_to(char *where);
void *keep(char *where) { return note_to(where), (void *)LETTER; }
#endif
#ifdef NEEDS
void *NEEDS(char *where);
void *needed = NEEDS;
#endif

static void by_exit(void) { note("x" LETTER " "); }
__attribute__((constructor(200))) static void second(void) { note("2" LETTER " "); }
__attribute__((constructor(150))) static void first(void)
{
    note("1" LETTER " ");
    atexit(by_exit);
}
__attribute__((destructor(150))) static void last(void) { note("1~" LETTER " "); }
__attribute__((destructor(200))) static void before_last(void) { note("2~" LETTER " "); }
void _init_called(void) { note("i" LETTER " "); }
void _fini_called(void) { note("f" LETTER " "); }
