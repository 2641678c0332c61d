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
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <threads.h>

#include "census.h"

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
    _Atomic uintptr_t chunk;
    struct tpsl_object *object;
    struct tpsl_place *_Atomic older; /* of the same bucket */
};

/* The PT_TLS segment of an object in memory, and where it goes. */
struct tpsl_tls_segment {
    const void *init;
    size_t filesz, memsz, align;
    size_t in_static_block; /* its start, below the end of each thread's block; 0: not there */
};

/* Values of initial-exec and local-exec thread-locals of an instance (static_tls.c). */
struct tpsl_static_tls {
    _Atomic size_t size; /* bytes of the block that the instance uses, at its end */
    char *image;         /* a whole block of initial values; NULL: none of its objects has any */
    uintptr_t kept;      /* module whose blocks keep threads' values while they act for others */
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
    void *outside;  /* ld.so's handle, if ld.so has loaded it (outside.c); it stands in scopes only */
    bool c_library; /* it is outside, and the C library or a part of it */

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

    size_t nplaces; /* at least */
    struct tpsl_place places[]; /* one for each chunk of addresses that it reaches into */
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
    bool stays;                  /* objects placed once refer to it */
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

/* Objects placed once; never unloaded. */
extern struct tpsl_instance tpsl_once;

/* The instance that the calling thread acts for; NULL: none. Only tpsl_become changes it. */
extern __thread struct tpsl_instance *tpsl_current __attribute__((tls_model("initial-exec")));

/* Makes the calling thread act for an instance, or for none. Returns the one before. */
struct tpsl_instance *tpsl_become(struct tpsl_instance *);

/* ---- registry.c: objects and instances ---- */
struct tpsl_instance *tpsl_instance_new(void);
void tpsl_instance_publish(struct tpsl_instance *);
void tpsl_instance_withdraw(struct tpsl_instance *); /* undoes its publication, and that of its objects */
void tpsl_instance_free(struct tpsl_instance *);     /* one that is not published */
bool tpsl_instance_is_live(const struct tpsl_instance *, uintptr_t serial); /* serial 0: any */
void tpsl_object_publish(struct tpsl_instance *, struct tpsl_object *);
bool tpsl_is_object(const void *handle);

/* ---- symbol.c: what an object defines ---- */
/* version NULL: the default one. NULL: it defines no such name. */
const ElfW(Sym) * tpsl_object_symbol(const struct tpsl_object *, const char *name, const char *version);
/* The address for the calling thread; of an object that we mapped. */
void *tpsl_symbol_address(struct tpsl_object *, const ElfW(Sym) *);
/* In the objects that we mapped only: the first of a list, or of the instance's global scope. */
void *tpsl_scope_symbol(struct tpsl_object *const *scope, size_t n, const char *name, const char *version);
void *tpsl_instance_symbol(struct tpsl_instance *, const char *name, const char *version);

/* ---- outside.c: objects that ld.so has loaded, as members of scopes ---- */
struct tpsl_object *tpsl_outside_new(void *handle, bool c_library); /* NULL: no memory */
/* The one of that handle; NULL: no scope has it. */
struct tpsl_object *tpsl_outside_of(const void *handle);
bool tpsl_in_c_library(const char *name, const char *version, const void *found);

/* ---- scope.c: lookups as dlsym makes them ---- */
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

/* All objects of all instances in the order of their publication, by
 * tpsl_next_published; NULL: none. Link maps are chained in the same order. Objects that
 * are walked through stay between tpsl_walk_begin and tpsl_walk_end, which nest. */
void tpsl_walk_begin(void);
void tpsl_walk_end(void);
struct tpsl_object *tpsl_first_published(void);
struct tpsl_object *tpsl_next_published(const struct tpsl_object *);
size_t tpsl_published(void); /* how many there were so far */
size_t tpsl_withdrawn(void); /* how many of these are gone */
void tpsl_census_objects(struct tpsl_census *); /* says where they are */

/* The private instance whose code is at an address, else the one that the thread acts for. */
struct tpsl_instance *tpsl_asking(const void *caller);

/* ---- address.c: which object holds an address; safe in a signal handler ---- */
struct tpsl_object *tpsl_object_new(size_t span); /* for an object of that many bytes; NULL: no memory */
void tpsl_object_spare(struct tpsl_object *);     /* gives it back */
void tpsl_object_enter(struct tpsl_object *);     /* one at a time, as the next */
void tpsl_object_leave(struct tpsl_object *);
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
/* In the order of their start, dependencies first. Waits for what is placed once and another instance starts. */
void tpsl_objects_start(struct tpsl_object *const *objects, size_t n, int argc, char **argv, char **envp);
void tpsl_instance_finish(struct tpsl_instance *); /* atexit list, then destructors */

/* Maps and relocates an instance of `library` and starts nothing of it: that is for
 * tpsl_objects_start, with the new objects in *fresh, an array from malloc. */
struct tpsl_instance *tpsl_make(const char *library, char **environment, struct tpsl_object ***fresh, size_t *nfresh, char **error);

/* Who runs what dlopen needs of Go: the calling thread, unless the process set another
 * runner. A process that only shares the address space has no Go runtime of its own. */
typedef void tpsl_step(void *);
typedef void tpsl_runner(tpsl_step *, void *);
void tpsl_set_runner(tpsl_runner *);

/* Makes dlopen of instances fail from now on: why is what dlerror says. */
void tpsl_refuse_opens(const char *why);

/* ---- thread_exit.c: destructors of thread-local variables ---- */
void tpsl_thread_exit_instance(struct tpsl_instance *); /* calls those of the calling thread */

/* ---- close.c ---- */
/* Ends an instance as exit() ends a process, and unmaps it; it is no more then. False:
 * objects placed once refer to it, so that it stays mapped. Preconditions: no thread is
 * inside it or acts for it but the calling one, which acts for none afterwards. */
bool tpsl_instance_close(struct tpsl_instance *);

/* Opens an instance of `library` for the calling thread, which becomes bound to
 * it: maps, relocates, runs the constructors. `environment` is taken over (an
 * array from malloc of strings from malloc). NULL: *error is a malloc'ed line. */
struct tpsl_instance *tpsl_open(const char *library, char **environment, char **error);

/* The same for a thread that goes on as what it was, and for functions that are called
 * by any thread: what cannot work without acting for the instance is refused. */
struct tpsl_instance *tpsl_open_unbound(const char *library, char **error);

/* Runs fn(a[0], ..., a[5]) with the thread bound to the instance. */
uintptr_t tpsl_instance_call(struct tpsl_instance *, uintptr_t fn, const uintptr_t *a);

/* ---- tls.c: thread-local storage of private objects ---- */
struct tpsl_tls_block {
    uintptr_t id;
    char *start;
    size_t size; /* of the memory, whatever module it was made for; 0: in the static block */
};
extern __thread struct tpsl_thread_tls {
    struct tpsl_tls_block *blocks; /* by module index */
    size_t nblocks;
    struct arena *arena;
} tpsl_thread_tls __attribute__((tls_model("initial-exec")));

uintptr_t tpsl_tls_module_new(const struct tpsl_tls_segment *); /* a tagged id; 0: no memory */
void tpsl_tls_module_end(uintptr_t id);
bool tpsl_tls_is_live(uintptr_t id);
void *tpsl_tls_get_addr(void *index);
void *tpsl_tls_block(uintptr_t id); /* the calling thread's; NULL: not touched yet */
void tpsl_tls_watch_thread(void);   /* sees to what is to be done when the thread ends */

/* ---- tlsdesc_linux_amd64.S: first words of TLS descriptors; no functions for C ---- */
struct tpsl_tls_index {
    uintptr_t module, offset;
};
void tpsl_tlsdesc_static(void);  /* the second word: distance from the thread pointer */
void tpsl_tlsdesc_absent(void);  /* the address */
void tpsl_tlsdesc_dynamic(void); /* pointer to a struct tpsl_tls_index */

/* ---- static_tls.c: initial-exec and local-exec thread-locals of private objects ---- */
enum {
    TPSL_STATIC_TLS = 512,     /* bytes of libtpsl's block, small enough that a program may dlopen it */
    TPSL_STATIC_TLS_ALIGN = 64 /* of a block's end: that of the thread pointer */
};

/* Gives private objects a block of the program's in place of ours: the calling thread's copy of an initial-exec or
 * local-exec variable that ends at a multiple of TPSL_STATIC_TLS_ALIGN. Where it ends at the thread pointer, programs
 * can be private. Preconditions: before anything is opened. */
void tpsl_static_tls_lend(void *block, size_t size);
size_t tpsl_static_tls_size(void);
ptrdiff_t tpsl_static_tls_offset(void); /* of the block's end, from the thread pointer */
char *tpsl_static_tls_end(void);        /* of the calling thread's block */

bool tpsl_static_tls_prepare(struct tpsl_instance *); /* false: no memory */
void tpsl_static_tls_add(struct tpsl_instance *, struct tpsl_object *const *, size_t n);
void tpsl_static_tls_end_instance(struct tpsl_instance *);
void tpsl_static_tls_leave(void); /* at the end of the thread */

/* ---- gate.c: functions of libc and ld.so that lock the whole address space ---- */
/* Counts the calling thread in, until the end of the block that says TPSL_INSIDE. Waits while
 * a fork of another rank has the gate closed. Does nothing but in instances that are processes. */
#define TPSL_INSIDE __attribute__((cleanup(tpsl_gate_leave), unused)) struct tpsl_instance *tpsl_inside = tpsl_gate_enter()
struct tpsl_instance *tpsl_gate_enter(void);
void tpsl_gate_leave(struct tpsl_instance **);
bool tpsl_gate_inside(void); /* the calling thread is inside, or has the gate closed; safe in a signal handler */
void tpsl_gate_use(void);    /* from now on threads are counted */
/* Keeps threads that are outside from entering until tpsl_gate_open. One thread at a time. False: the calling one has it
 * closed, which a handler of a signal may find. */
bool tpsl_gate_close(void);
/* Waits up to `limit` for a change; true: no thread of the instance is inside. */
bool tpsl_gate_await(struct tpsl_instance *, const struct timespec *limit);
void tpsl_gate_open(void); /* if a thread of the process has it closed */
/* In a child of fork, where only the calling thread is left, for each instance. The gate is open then. */
void tpsl_gate_count(struct tpsl_instance *);

/* ---- lock.c: for the end of a thread and for signal handlers; errno stays ---- */
void tpsl_lock(atomic_int *word, sigset_t *before); /* no signal comes until tpsl_unlock */
void tpsl_unlock(atomic_int *word, const sigset_t *before);
void tpsl_hold_signals(sigset_t *before); /* without a lock */
void tpsl_let_signals(const sigset_t *before);

/* ---- cpus.c ---- */
bool tpsl_parse_cpus(const char *list, cpu_set_t *); /* false: it names none */

/* ---- keys.c: keys of thread-specific data ---- */
int tpsl_key_create(pthread_key_t *, void (*)(void *));
int tpsl_key_delete(pthread_key_t);
void tpsl_keys_end_instance(const struct tpsl_instance *);

/* ---- thread.c: threads made inside an instance inherit it ---- */
struct tpsl_thread_hooks {
    void *(*capture)(void);     /* on the creating thread; NULL: nothing to hand on */
    void (*enter)(void *state); /* on the new thread, before its start routine */
    /* Changes what the thread is made with; what it returns, if not 0, is pthread_create's error. NULL: it stays. */
    int (*widen)(pthread_attr_t *);
};
void tpsl_set_thread_hooks(const struct tpsl_thread_hooks *);
bool tpsl_thread_ends(void); /* its routine has returned, libc now takes it down; safe in a signal handler */
typedef int tpsl_thread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int tpsl_thread_create_inheriting(tpsl_thread_create *, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* ---- signals.c, shared.c: what an instance leaves behind ---- */
void tpsl_signals_end_instance(struct tpsl_instance *);
void tpsl_shared_end_instance(struct tpsl_instance *);

/* ---- sigstack.c ---- */
/* Gives the calling thread a stack for signal handlers, so that an overflow of its own
 * can be reported, unless it has one. */
void tpsl_give_signal_stack(void);

/* ---- walk.c: the calling thread's stack, from the newest frame ---- */
/* A frame's instruction, or with `exact` false the one that its call returns to. False
 * ends the walk. */
typedef bool tpsl_visitor(uintptr_t pc, bool exact, void *data);
void tpsl_walk_prepare(void); /* takes locks and memory; a walk then takes none */
void tpsl_walk(tpsl_visitor *, void *data);

/* Where the handler of a signal interrupted the thread. */
struct tpsl_interruption {
    uintptr_t pc;
    long result;       /* the register of a system call's number, and then of its result */
    uintptr_t operand; /* its first one */
};
/* Whether any of the handlers that the calling thread is in interrupted what `is` says. */
bool tpsl_interrupted(bool (*is)(const struct tpsl_interruption *));

/* ---- crash.c ---- */
/* For the handler of a fatal signal: tells stderr what came to whom, and where. Only the
 * first one in the address space is told. */
void tpsl_crash_report(const char *whom, int signal, siginfo_t *, void *context);

/* ---- onecopy.c ---- */
/* Says that the job has another process on this host, so that a kernel that
 * refuses process_vm_* must be seen to refuse. */
void tpsl_set_process_peers(bool others);
/* Names the processes that share the address space, by the words in which the kernel
 * keeps their ids; it clears one when its process ends or executes another program
 * (set_tid_address(2)). NULL: there is none yet. */
void tpsl_set_siblings(int *volatile const *ids, size_t n);

/* ---- unwind.c: what unwinders ask, in front of ld.so's ---- */
int tpsl_host_iterate_phdr(int (*)(struct dl_phdr_info *, size_t, void *), void *); /* ld.so's */

bool tpsl_has_namespaces(void); /* ld.so is glibc's 2.35 or newer */

/* ---- debugger.c: around the publication of objects ---- */
void tpsl_debugger_before(int state); /* RT_ADD, RT_DELETE */
void tpsl_debugger_after(void);

/* ---- rebind.c ---- */
enum tpsl_rebind_scope {
    TPSL_REBIND_PRIVATE = 1,
    TPSL_REBIND_ONCE = 2,
    TPSL_REBIND_PROCESS = 4, /* private, of instances that are processes of their own */
};
struct tpsl_rebinding {
    const char *name;
    void *function;
    int scope; /* which placements get it */
};
extern const struct tpsl_rebinding tpsl_rebindings[];
extern const size_t tpsl_nrebindings;
void *tpsl_rebound(const char *name, int scope); /* NULL: it is not */

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
int tpsl_cxa_thread_atexit(void (*)(void *), void *, void *);
int tpsl_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int tpsl_thrd_create(thrd_t *, thrd_start_t, void *);
void tpsl_refuse(const char *text); /* what tpsl_dlerror tells the thread next */
char *tpsl_own_error(void);         /* that, but not what ld.so's would tell */
void tpsl_dlerror_leave(void);      /* at the end of the thread */
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
void *tpsl_memset(void *, int, size_t);
ssize_t tpsl_process_vm_readv(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);
ssize_t tpsl_process_vm_writev(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

/* For the handler of SIGSEGV and SIGBUS, which passes its third argument: does not return when the fault is that of a
 * copy above, which then gives EFAULT. */
void tpsl_copy_fault(const void *context);

#endif
