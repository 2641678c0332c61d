/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The private shim: what libc keeps once per address space and each rank must have to
 * itself. Every instance of a program has a copy of this library, in front of libc in
 * the order of lookup, so plain static variables are a rank's own. The real functions
 * are behind it.
 */
#ifndef TPSL_SHIM_H
#define TPSL_SHIM_H

#include <dlfcn.h>
#include <stdio.h>

/* libc's function of that name. */
#define BEHIND(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

extern char **environ;

/* ---- of libtpslhost (host.h) ---- */
void tpsl_rank_finish(void); /* the rank's atexit list and destructors */
const char *tpsl_program(void);
void tpsl_in_zone(const char *zone, void (*call)(void *), void *argument);
void tpsl_at_thread_end(void (*call)(void)); /* when the calling thread ends, once */

/* ---- streams.c ---- */
void tpsl_streams_open(void); /* the standard ones */
void tpsl_streams_flush(void);
FILE *tpsl_stream_add(FILE *);
void tpsl_stream_remove(FILE *);

#endif
