/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C half of package loader: what must run on the caller's own stack,
 * without Go. Go (instance_unsafe.go) maps and relocates; it fills these structs and
 * C does the rest: resolvers of IRELATIVE, RELRO, constructors, and every
 * libc name that an instance gets from us ("rebound" names, rebind.c).
 */
#ifndef TPSL_LOADER_H
#define TPSL_LOADER_H

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpsl_instance;
struct tpsl_object;

/* One store that needs a call: *where = resolver() (psABI: R_X86_64_IRELATIVE,
 * and references to STT_GNU_IFUNC symbols). */
struct tpsl_ifunc {
    uintptr_t where;
    uintptr_t resolver;
};

/* That an object reaches into a chunk of the address space (address.c). */
struct tpsl_place {
    uintptr_t chunk;
    struct tpsl_object *object;
    const struct tpsl_place *older; /* of the same bucket */
};

/* One mapped object. Owned by its instance, or by tpsl_once when the placement
 * is "once". Written by Go before it is published by tpsl_object_publish, and
 * immutable after that but for `refs` and the links of lists. Objects are allocated
 * with tpsl_object_size, zeroed. */
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

    struct tpsl_object **scope; /* itself, then its dependencies breadth-first */
    size_t nscope;

    uintptr_t relro, relro_size;
    struct tpsl_ifunc *ifuncs;
    size_t nifuncs;
    uintptr_t *init; /* constructors, in the order of their calls */
    size_t ninit;
    uintptr_t *fini; /* destructors, in the order of their calls */
    size_t nfini;

    atomic_int refs; /* dlopen minus dlclose */

    struct tpsl_place places[]; /* one for each chunk of addresses that it reaches into */
};

/* One function registered by __cxa_atexit from inside an instance. */
struct tpsl_exit_entry;

/* One private copy of the private libraries. */
struct tpsl_instance {
    struct tpsl_object *_Atomic first; /* list in the plan's order; grows at its tail */
    struct tpsl_object *last;

    char **environment; /* overlay: "NAME=value" strings, NULL-terminated */

    pthread_mutex_t exit_lock;
    struct tpsl_exit_entry *exit_list; /* newest first */

    struct tpsl_instance *next; /* list of all instances, newest first */
};

/* Objects placed once; never unloaded. */
extern struct tpsl_instance tpsl_once;

/* The instance that the calling thread acts for; NULL: none. */
extern __thread struct tpsl_instance *tpsl_current __attribute__((tls_model("initial-exec")));

/* ---- registry.c: objects and instances ---- */
struct tpsl_instance *tpsl_instance_new(void);
void tpsl_instance_publish(struct tpsl_instance *);
void tpsl_instance_free(struct tpsl_instance *); /* one that was never published */
struct tpsl_instance *tpsl_instances(void);      /* newest first, by ->next */
void tpsl_object_publish(struct tpsl_instance *, struct tpsl_object *);
bool tpsl_is_object(const void *handle);
const ElfW(Sym) * tpsl_object_symbol(const struct tpsl_object *, const char *name, const char *version);
void *tpsl_scope_symbol(struct tpsl_object *const *scope, size_t n, const char *name, const char *version);
void *tpsl_instance_symbol(struct tpsl_instance *, const char *name, const char *version);

/* All objects of all instances in the order of their publication, by
 * tpsl_next_published; NULL: none yet. Link maps are chained in the same order. */
struct tpsl_object *tpsl_first_published(void);
struct tpsl_object *tpsl_next_published(const struct tpsl_object *);
size_t tpsl_published(void); /* how many there are */

/* ---- address.c: which object holds an address; safe in a signal handler ---- */
size_t tpsl_object_size(size_t span);            /* of a struct for an object of that many bytes */
void tpsl_object_enter(struct tpsl_object *);    /* one at a time */
struct tpsl_object *tpsl_object_at(const void *address);

/* ---- locate.c: what is at an address; safe in a signal handler ---- */
struct tpsl_location {
    const char *object; /* the file's name */
    uintptr_t base;     /* where address 0 of the file is */
    const char *symbol; /* NULL: no dynamic symbol covers the address */
    uintptr_t symbol_start;
};
bool tpsl_locate(const void *address, struct tpsl_location *);

/* ---- dl.c ---- */
/* The process's definition as ld.so would find it for the program: the program's own
 * or a preloaded tool's before ours. dlsym(RTLD_DEFAULT) from libtpsl would find ours
 * first, as libtpsl is linked -Bsymbolic. version may be NULL. */
void *tpsl_process_symbol(const char *name, const char *version);
/* The function behind ours of the same name. Where a preloaded library brings us, libc
 * comes before us and there is nothing behind. NULL: there is none. */
void *tpsl_host_function(const char *name, const void *ours);
/* tpsl_process_symbol for a reference to name@version: the first definition may be one of a library
 * without versions (a malloc, a sanitizer), which dlvsym skips and ld.so does not. */
void *tpsl_process_definition(const char *name, const char *version);

/* ---- start.c: bringing objects up and down, on the calling thread ---- */
void tpsl_objects_start(struct tpsl_object *const *objects, size_t n, int argc, char **argv, char **envp);
void tpsl_instance_finish(struct tpsl_instance *); /* atexit list, then destructors */

/* Opens an instance of `library` for the calling thread, which becomes bound to
 * it: maps, relocates, runs the constructors. `environment` is taken over (an
 * array from malloc of strings from malloc). NULL: *error is a malloc'ed line. */
struct tpsl_instance *tpsl_open(const char *library, char **environment, char **error);

/* Runs fn(a[0], ..., a[5]) with the thread bound to the instance. */
uintptr_t tpsl_instance_call(struct tpsl_instance *, uintptr_t fn, const uintptr_t *a);

/* ---- tls.c: thread-local storage of private objects ---- */
uintptr_t tpsl_tls_module_new(const void *init, size_t filesz, size_t memsz, size_t align);
void *tpsl_tls_get_addr(void *index);
void *tpsl_tls_block(uintptr_t module); /* the calling thread's; NULL: not touched yet */

/* ---- thread.c: threads made inside an instance inherit it ---- */
struct tpsl_thread_hooks {
    void *(*capture)(void);     /* on the creating thread; NULL: nothing to hand on */
    void (*enter)(void *state); /* on the new thread, before its start routine */
};
void tpsl_set_thread_hooks(const struct tpsl_thread_hooks *);
typedef int tpsl_thread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int tpsl_thread_create_inheriting(tpsl_thread_create *, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* ---- onecopy.c ---- */
/* Says that the job has another process on this host, so that a kernel that
 * refuses process_vm_* must be seen to refuse. */
void tpsl_set_process_peers(bool others);

/* ---- unwind.c: what unwinders ask, in front of ld.so's ---- */
int tpsl_host_iterate_phdr(int (*)(struct dl_phdr_info *, size_t, void *), void *); /* ld.so's */

bool tpsl_has_namespaces(void); /* ld.so is glibc's 2.35 or newer */

/* ---- debugger.c: around the publication of objects ---- */
void tpsl_debugger_before(void);
void tpsl_debugger_after(void);

/* ---- rebind.c ---- */
enum tpsl_rebind_scope { TPSL_REBIND_PRIVATE = 1, TPSL_REBIND_ONCE = 2 };
struct tpsl_rebinding {
    const char *name;
    void *function;
    int scope; /* which placements get it */
};
extern const struct tpsl_rebinding tpsl_rebindings[];
extern const size_t tpsl_nrebindings;

/* The functions behind the table that live elsewhere. */
tpsl_thread_create tpsl_pthread_create;
char *tpsl_getenv(const char *);
void *tpsl_dlopen(const char *, int);
int tpsl_dlclose(void *);
void *tpsl_dlsym(void *, const char *);
void *tpsl_dlvsym(void *, const char *, const char *);
char *tpsl_dlerror(void);
int tpsl_dladdr(const void *, Dl_info *);
int tpsl_dlinfo(void *, int, void *);
int tpsl_cxa_atexit(void (*)(void *), void *, void *);
void tpsl_cxa_finalize(void *);
void *tpsl_mmap(void *, size_t, int, int, int, off_t);
int tpsl_munmap(void *, size_t);
void *tpsl_shmat(int, const void *, int);
int tpsl_shmdt(const void *);
typedef void tpsl_handler(int);
struct sigaction;
int tpsl_sigaction(int, const struct sigaction *, struct sigaction *);
tpsl_handler *tpsl_signal(int, tpsl_handler *);
struct iovec;
int tpsl_fcntl(int, int, ...);
mode_t tpsl_umask(mode_t);
ssize_t tpsl_process_vm_readv(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);
ssize_t tpsl_process_vm_writev(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

/* For the handler of SIGSEGV and SIGBUS: does not return when the fault is that of a
 * copy above, which then gives EFAULT. */
void tpsl_copy_fault(void);

#endif
