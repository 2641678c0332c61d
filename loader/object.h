/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Objects and instances: inside the loader. Go fills these structures (twin_unsafe.go); C does
 * the rest: resolvers of IRELATIVE, RELRO, constructors.
 */
#ifndef TPSL_OBJECT_H
#define TPSL_OBJECT_H

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader.h"
#include "tls.h"

/* One store that needs a call: *where = resolver() (psABI: R_X86_64_IRELATIVE,
 * and references to STT_GNU_IFUNC symbols). */
struct tpsl_ifunc {
    uintptr_t where;
    uintptr_t resolver;
};

/* The part of an object that lies in one chunk of the address space (object_address.c). */
struct tpsl_extent {
    _Atomic uintptr_t chunk;
    struct tpsl_object *object;
    struct tpsl_extent *_Atomic older; /* of the same bucket */
};

/* One mapped object. Owned by its instance, or by tpsl_once when the placement
 * is "once". Written by Go before it is published by tpsl_object_publish, and
 * immutable after that but for `refs` and the links of lists. tpsl_object_new makes
 * them, zeroed. */
struct tpsl_object {
    struct link_map map; /* l_addr, l_name, l_ld; dlinfo gives it out */
    struct tpsl_object *_Atomic next; /* in the plan's order */
    struct tpsl_instance *instance;
    const char *soname;
    uintptr_t start, end; /* page-aligned span of the load segments */
    const ElfW(Phdr) * phdr; /* program headers; NULL: no segment holds them */
    size_t phnum;
    void *eh_frame_hdr; /* of PT_GNU_EH_FRAME; NULL: no code of it can be unwound */

    const ElfW(Sym) * symtab;
    size_t nsymbols;
    const char *strtab;
    const uint32_t *gnu_hash; /* either may be NULL */
    const uint32_t *sysv_hash;
    const ElfW(Half) * versym;
    const char *verdef;
    size_t verdefnum;

    uintptr_t tls_module; /* tagged module id, 0: no PT_TLS */
    struct tpsl_tls_segment tls;
    struct tpsl_tls_index *descriptors; /* what its TLS descriptors point to */

    struct tpsl_object **scope; /* itself, then its dependencies breadth-first, ld.so's too */
    size_t nscope;
    void *ldso_handle; /* of an object that ld.so has loaded (ldso_objects.c); it stands in scopes only */
    bool c_library;     /* ld.so has loaded it, and it is the C library or a part of it */
    const struct tpsl_wrappers *wrappers; /* in front of its functions (wrapper.c); NULL: there are none */

    uintptr_t relro, relro_size;
    struct tpsl_ifunc *ifuncs;
    size_t nifuncs;
    uintptr_t *init; /* constructors, in the order of their calls */
    size_t ninit;
    uintptr_t *fini; /* destructors, in the order of their calls */
    size_t nfini;
    uintptr_t entry; /* of a program */
    struct tpsl_object *started_before; /* of the same instance */

    atomic_int refs; /* dlopen minus dlclose */

    /* Of one placed once: */
    struct tpsl_instance *brought_by;
    atomic_int is_up; /* its constructors have run */

    size_t nextents; /* at least */
    struct tpsl_extent extents[]; /* one for each chunk of addresses that it reaches into */
};

/* The objects of a lookup, in its order. Never changed: another one takes its place. */
struct tpsl_scope {
    struct tpsl_scope *older; /* somebody may be reading it */
    size_t n;
    struct tpsl_object *objects[];
};

/* What dlopen has opened in an instance. */
struct tpsl_opened {
    struct tpsl_opened *_Atomic next;
    struct tpsl_object *root;
    bool deep;  /* RTLD_DEEPBIND */
    char *name; /* that it was asked for by, if that depends on the working directory; else NULL */
};

/* One function registered by __cxa_atexit from inside an instance. */
struct tpsl_exit_entry;

/* One private copy of the private libraries. */
struct tpsl_instance {
    struct tpsl_object *_Atomic first; /* list in the plan's order; grows at its tail */
    struct tpsl_object *last;
    struct tpsl_object *started; /* the one whose constructors were called last */

    pthread_mutex_t open_lock; /* recursive, as constructors may call dlopen */
    struct tpsl_scope *_Atomic global;
    struct tpsl_opened *_Atomic opened;
    struct tpsl_object *stand_in; /* in the C library's place; NULL: none */
    int rebound;                  /* enum tpsl_rebind_scope of its private objects */

    uintptr_t serial;            /* no two instances have the same */
    bool stays;                  /* objects placed once refer to it, or a thread may be in a handler of it */
    bool exec_stack;             /* code of its objects runs on stacks */
    bool without_switch;         /* its functions are called by threads that do not act for it */

    char **environment; /* overlay: "NAME=value" strings, NULL-terminated */
    int argc;           /* what constructors are given */
    char **argv;
    char **envp; /* NULL: the process's environ */

    struct tpsl_static_tls static_tls;
    struct tpsl_home home;
    _Alignas(64) atomic_int inside; /* of its threads, in functions behind the gate (gate.c); a futex */

    pthread_mutex_t exit_lock;
    struct tpsl_exit_entry *exit_list; /* newest first */

    struct tpsl_instance *next; /* list of all instances, newest first */
};

/* ---- object_address.c: which object holds an address; safe in a signal handler ---- */
struct tpsl_object *tpsl_object_new(size_t span); /* for an object of that many bytes; NULL: no memory */
void tpsl_object_spare(struct tpsl_object *);     /* gives it back */
void tpsl_object_enter(struct tpsl_object *);     /* one at a time, as the next */
void tpsl_object_leave(struct tpsl_object *);
struct tpsl_object *tpsl_object_at(const void *address);

/* ---- object_symbol.c: what an object defines ---- */
/* version NULL: the default one. NULL: it defines no such name. */
const ElfW(Sym) * tpsl_object_symbol(const struct tpsl_object *, const char *name, const char *version);
/* The address for the calling thread; of an object that we mapped. */
void *tpsl_symbol_address(struct tpsl_object *, const ElfW(Sym) *);
/* The first definition in a list, in objects that we mapped. */
void *tpsl_scope_symbol(struct tpsl_object *const *scope, size_t n, const char *name, const char *version);

/* ---- wrapper.c: functions in front of those of objects with `wrappers` ---- */
struct tpsl_wrapper {
    const char *name;
    void *function;
};
struct tpsl_wrappers {
    struct tpsl_wrappers *older; /* of another recipe */
    const struct tpsl_wrapper *list;
    size_t n;
};
/* Those of a recipe, for good. The list is not copied. NULL: no memory. */
const struct tpsl_wrappers *tpsl_wrappers_new(const struct tpsl_wrapper *, size_t n);
void *tpsl_wrapper(const struct tpsl_wrappers *, const char *name); /* NULL: there is none of that name */

/* ---- object_registry.c: which objects are mapped, and for whom ---- */
/* Objects placed once; never unloaded. */
extern struct tpsl_instance tpsl_once;

struct tpsl_instance *tpsl_instance_new(void);
void tpsl_instance_publish(struct tpsl_instance *);
void tpsl_instance_withdraw(struct tpsl_instance *); /* undoes its publication, and that of its objects */
bool tpsl_instance_is_live(const struct tpsl_instance *, uintptr_t serial); /* serial 0: any */
void tpsl_object_publish(struct tpsl_instance *, struct tpsl_object *);
bool tpsl_is_object(const void *handle);

/* The private instance whose code is at an address, else the one that the thread acts for. */
struct tpsl_instance *tpsl_asking(const void *caller);

/* All objects of all instances in the order of their publication, by
 * tpsl_next_published; NULL: none. Link maps are chained in the same order. Objects stay
 * between tpsl_objects_hold and tpsl_objects_release, which nest. */
void tpsl_objects_hold(void);
void tpsl_objects_release(void);
struct tpsl_object *tpsl_first_published(void);
struct tpsl_object *tpsl_next_published(const struct tpsl_object *);
size_t tpsl_published(void); /* how many there were so far */
size_t tpsl_withdrawn(void); /* how many of these are gone */

/* ---- instance_open.c ---- */
/* Runs fn(a[0], ..., a[5]) with the thread acting for the instance. */
uintptr_t tpsl_instance_call(struct tpsl_instance *, uintptr_t fn, const uintptr_t *a);

/* ---- instance_close.c ---- */
void tpsl_instance_free(struct tpsl_instance *); /* one that is not published */

/* ---- debugger.c: around the publication of objects ---- */
void tpsl_debugger_before(int state); /* RT_ADD, RT_DELETE */
void tpsl_debugger_after(void);

#endif
