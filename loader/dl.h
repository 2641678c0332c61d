/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * ld.so, and dlopen and its family as code of an instance sees them: inside the loader.
 */
#ifndef TPSL_DL_H
#define TPSL_DL_H

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "object.h"

/* glibc before 2.35 has neither this function nor what it fills. */
#ifndef DLFO_STRUCT_HAS_EH_DBASE
struct dl_find_object {
    unsigned long long dlfo_flags;
    void *dlfo_map_start, *dlfo_map_end;
    struct link_map *dlfo_link_map;
    void *dlfo_eh_frame;
    unsigned long long reserved[7];
};
int _dl_find_object(void *address, struct dl_find_object *);
#endif

/* ---- ldso.c: questions to ld.so ---- */
/* ld.so's dlopen and dlclose. libucm may change the references to them in objects that ld.so knows, ours among them. They then
 * lead to functions of libucm, which call tpsl_dlopen and tpsl_dlclose. */
void *tpsl_ldso_dlopen(const char *path, int mode);
int tpsl_ldso_dlclose(void *handle);
void *tpsl_program_handle(void); /* ld.so's, of the global scope */
struct link_map *tpsl_program_map(void); /* the first of what ld.so has loaded; NULL: not known */
/* What an entry of PT_DYNAMIC points to. ld.so relocates these pointers in place, but not those of the vDSO. */
const void *tpsl_dynamic_pointer(const struct link_map *, const ElfW(Dyn) *);
bool tpsl_ldso_has_namespaces(void); /* it is glibc's 2.35 or newer */
int tpsl_ldso_find_object(void *address, struct dl_find_object *); /* -1: there is none, or it cannot tell */
int tpsl_ldso_iterate_phdr(int (*)(struct dl_phdr_info *, size_t, void *), void *);
/* tpsl_process_symbol for a reference to name@version: the first definition may be one of a library
 * without versions (a malloc, a sanitizer), which dlvsym skips and ld.so does not. */
void *tpsl_process_definition(const char *name, const char *version);
/* For a reference to a name of a library, by ld.so's handle of it: the definition that the process's global scope has,
 * else that of the library. NULL: there is none. */
void *tpsl_imported_symbol(void *library, const char *name, const char *version);
/* The distance of such a thread-local variable from the thread pointer; 0: it is not in ld.so's static block. */
ptrdiff_t tpsl_imported_thread_offset(void *library, const char *name, const char *version);
size_t tpsl_imported_tls_module(void *library); /* 0: it has no thread-local variables */

/* ---- ldso_objects.c: objects that ld.so has loaded, as members of scopes ---- */
struct tpsl_object *tpsl_ldso_object_new(void *handle, bool c_library); /* NULL: no memory */
/* Whether `found` is the C library's definition of a name. */
bool tpsl_in_c_library(const char *name, const char *version, const void *found);

/* ---- dl_scope.c: lookups as dlsym makes them ---- */
void tpsl_set_global_scope(struct tpsl_instance *, struct tpsl_scope *); /* takes it over */
void tpsl_note_opened(struct tpsl_instance *, struct tpsl_object *root, int mode, const char *name);
/* What is open under a name that depends on the working directory; NULL: nothing. */
struct tpsl_object *tpsl_opened_as(struct tpsl_instance *, const char *name);
void tpsl_scopes_end_instance(struct tpsl_instance *);
/* Calls it for each object that code of the instance can refer to, some more than once. */
void tpsl_scopes_each(struct tpsl_instance *, void (*)(struct tpsl_instance *, struct tpsl_object *));
/* For code at an address; NULL: there is none. In order: RTLD_DEFAULT, the handle of the program, RTLD_NEXT, a handle of
 * ours or of ld.so's. */
void *tpsl_find_default(const void *caller, const char *name, const char *version);
void *tpsl_find_global(const void *caller, const char *name, const char *version);
void *tpsl_find_next(const void *caller, const char *name, const char *version);
void *tpsl_find_in(void *handle, const void *caller, const char *name, const char *version);

/* ---- dl_error.c ---- */
void tpsl_dlerror_clear(void); /* ours and ld.so's */

#endif
