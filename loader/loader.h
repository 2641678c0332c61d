/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C interface of package loader, for the packages above it. What the loader's own files
 * tell one another is in object.h, tls.h, thread.h, dl.h and libc.h.
 *
 * C does what must run on the caller's own stack, without Go. Go (instance_unsafe.go) maps
 * and relocates.
 */
#ifndef TPSL_LOADER_H
#define TPSL_LOADER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct tpsl_instance; /* one private copy of the private libraries */
struct tpsl_object;   /* one mapped file */

/* ---- instance_current.c ---- */
/* The instance that the calling thread acts for; NULL: none. Only tpsl_become changes it. */
extern __thread struct tpsl_instance *tpsl_current __attribute__((tls_model("initial-exec")));

/* Makes the calling thread act for an instance, or for none. Returns the one before. */
struct tpsl_instance *tpsl_become(struct tpsl_instance *);

/* ---- instance_open.c ---- */
/* Opens an instance of `library` for the calling thread, which then acts for it: maps, relocates and runs the
 * constructors. `recipe` is what loader.Add has returned, 0: what loader.Configure has set. `environment` is taken over: a NULL-terminated array from malloc of strings "NAME=value" from malloc,
 * which getenv gives in the instance; NULL: none. On error it returns NULL, and *error is a line from malloc. */
struct tpsl_instance *tpsl_open(int recipe, const char *library, char **environment, char **error);

/* The same for a thread that goes on as what it was, and for functions that are called
 * by any thread: what cannot work without acting for the instance is refused. */
struct tpsl_instance *tpsl_open_unbound(const char *library, char **error);

/* Maps and relocates an instance of `library` and starts nothing of it: that is for
 * tpsl_instance_start, with the new objects in *fresh, an array from malloc. */
struct tpsl_instance *tpsl_make(const char *library, char **environment, struct tpsl_object ***fresh, size_t *nfresh, char **error);

/* What constructors are given in place of the process's arguments and environment; not copied. */
void tpsl_instance_set_arguments(struct tpsl_instance *, int argc, char **argv, char **envp);

const char *tpsl_instance_file(const struct tpsl_instance *);      /* the path of what was opened */
uintptr_t tpsl_instance_entry(const struct tpsl_instance *);       /* the entry point of a program */
bool tpsl_instance_needs_exec_stack(const struct tpsl_instance *); /* code of it runs on the stack */

/* ---- instance_start.c ---- */
/* Brings objects of the instance up, dependencies first, on the calling thread, which acts for it. Waits for objects
 * placed once that another instance is starting. */
void tpsl_instance_start(struct tpsl_instance *, struct tpsl_object *const *objects, size_t n);
/* Ends an instance as exit() ends a process: destructors of the calling thread's variables, the atexit list, then
 * destructors of the objects. They stay mapped. */
void tpsl_instance_finish(struct tpsl_instance *);

/* ---- instance_close.c ---- */
/* Ends an instance as exit() ends a process, and unmaps it; it is no more then. False:
 * objects placed once refer to it, or a thread may be in its handler of a signal, so that it stays mapped. Preconditions: no thread is
 * inside it or acts for it but the calling one, which acts for none afterwards. */
bool tpsl_instance_close(struct tpsl_instance *);

/* ---- object_symbol.c: in the objects that we mapped only ---- */
/* By the instance's global scope, or in one object. version NULL: the default one. NULL: no such name is defined. */
void *tpsl_instance_symbol(struct tpsl_instance *, const char *name, const char *version);
void *tpsl_object_address(struct tpsl_object *, const char *name);
/* dl_scope.c: what code of the instance that refers to the name gets, which may be a wrapper. */
void *tpsl_instance_reference(struct tpsl_instance *, const char *name);

/* ---- wrapper.c ---- */
/* For a wrapper (loader.Config): the function of that name that it stands in front of, in the instance that the calling
 * thread acts for. NULL: that instance has none. */
void *tpsl_wrapped(const char *name);

/* ---- object_registry.c ---- */
/* Whose code or data is at an address; safe in a signal handler. */
enum tpsl_owner {
    TPSL_OF_PROCESS,       /* nothing that we mapped */
    TPSL_OF_INSTANCE,      /* of one instance */
    TPSL_OF_ALL_INSTANCES, /* of an object placed once */
};
enum tpsl_owner tpsl_owner_of(const void *address);

/* Memory that an instance uses outside of its objects: that of its thread. */
struct tpsl_home {
    uint64_t stack, stack_end; /* 0: the stack that the kernel gave to the process */
    uint64_t thread_locals;    /* address of the pointer to its pages (tls.c) */
    uint64_t heap;             /* an address that malloc gave it */
};
struct tpsl_home *tpsl_instance_home(struct tpsl_instance *);

/* Where a reader outside the process finds what is mapped: addresses of variables, and offsets in structures. */
struct tpsl_layout {
    uint64_t objects; /* address of the pointer to the first; each begins with a link_map, whose l_next leads on */
    uint64_t object_instance, object_start, object_end; /* offsets of its instance, and of the pages that it spans */
    uint64_t instance_home;                             /* offset of struct tpsl_home */
    uint64_t once;                                      /* the instance of what is placed once */
    uint64_t published, withdrawn;                      /* addresses of counters of objects */
};
void tpsl_get_layout(struct tpsl_layout *);

/* ---- object_locate.c: what is at an address; safe in a signal handler ---- */
struct tpsl_location {
    const char *object; /* the file's name */
    const char *path;   /* of the file; "": it is the one that the process executes */
    uintptr_t base;     /* where address 0 of the file is */
    const char *symbol; /* NULL: no dynamic symbol covers the address */
    uintptr_t symbol_start;
};
bool tpsl_locate(const void *address, struct tpsl_location *);

/* ---- ldso.c ---- */
/* The process's definition as ld.so would find it for the program: the program's own
 * or a preloaded tool's before ours. dlsym(RTLD_DEFAULT) from libtpsl would find ours
 * first, as libtpsl is linked -Bsymbolic. version may be NULL. */
void *tpsl_process_symbol(const char *name, const char *version);
/* The function behind ours of the same name. Where a preloaded library brings us, libc
 * comes before us and there is nothing behind. NULL: there is none. */
void *tpsl_function_behind(const char *name, const void *ours);

/* ---- dl_open.c ---- */
void *tpsl_dlopen(const char *, int); /* as dlopen, for the instance that the calling thread acts for */
/* Who runs what dlopen needs of Go: the calling thread, unless the process set another
 * runner. A process that only shares the address space has no Go runtime of its own. */
typedef void tpsl_step(void *);
typedef void tpsl_runner(tpsl_step *, void *);
void tpsl_set_runner(tpsl_runner *);
/* Makes dlopen of instances fail from now on: why is what dlerror says. */
void tpsl_refuse_opens(const char *why);

/* ---- dl_error.c ---- */
/* Sets what dlerror tells the calling thread next. */
void tpsl_dlerror_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *tpsl_dlerror_own(void); /* what tpsl_dlerror_set has set, once; NULL: nothing */
char *tpsl_dlerror(void);     /* that, else what ld.so tells */

/* ---- thread_create.c: threads made inside an instance inherit it ---- */
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

/* ---- tls.c, tls_static.c ---- */
/* Address of the pointer to the pages of the calling thread's thread-locals. */
uintptr_t tpsl_tls_pages(void);
/* Gives private objects a block of the program's in place of ours: the calling thread's copy of an initial-exec or
 * local-exec variable that ends at a multiple of TPSL_STATIC_TLS_ALIGN. Where it ends at the thread pointer, programs
 * can be private. Preconditions: before anything is opened. */
void tpsl_static_tls_lend(void *block, size_t size);
size_t tpsl_static_tls_size(void);

/* ---- gate.c: functions of libc and ld.so that lock the whole address space ---- */
/* Counts the calling thread in, until the end of the block that says TPSL_INSIDE. Waits while
 * a fork of another process has the gate closed. Does nothing but in instances that are processes. */
#define TPSL_INSIDE __attribute__((cleanup(tpsl_gate_leave), unused)) struct tpsl_instance *tpsl_inside = tpsl_gate_enter()
struct tpsl_instance *tpsl_gate_enter(void);
void tpsl_gate_leave(struct tpsl_instance **);
bool tpsl_gate_inside(void); /* the calling thread is inside, or has the gate closed; safe in a signal handler */
void tpsl_gate_then(void (*call)(void)); /* once, when the calling thread is outside again; safe in a signal handler */
void tpsl_gate_use(void);    /* from now on threads are counted */
/* Keeps threads that are outside from entering until tpsl_gate_open. One thread at a time. False: the calling one has it
 * closed, which a handler of a signal may find. */
bool tpsl_gate_close(void);
/* Waits up to `limit` for a change; true: no thread of the instance is inside. */
bool tpsl_gate_await(struct tpsl_instance *, const struct timespec *limit);
void tpsl_gate_open(void); /* if a thread of the process has it closed */
/* In a child of fork, where only the calling thread is left, for each instance. The gate is open then. */
void tpsl_gate_count(struct tpsl_instance *);

/* ---- libc_process_vm.c ---- */
/* Names the processes that share the address space, by the words in which the kernel
 * keeps their ids; it clears one when its process ends or executes another program
 * (set_tid_address(2)). NULL: there is none yet. */
void tpsl_set_siblings(int *volatile const *ids, size_t n);
/* For the handler of SIGSEGV and SIGBUS, which passes its third argument: does not return if the fault is in a copy that
 * stands for process_vm_readv or process_vm_writev, which then gives EFAULT. */
void tpsl_copy_fault(const void *context);

/* ---- copy_together.c ---- */
/* From now on large copies that stand for process_vm_readv and process_vm_writev are offered to threads that call
 * tpsl_copies_help: they take parts of them. */
void tpsl_copies_share(void);
extern _Atomic uint32_t tpsl_copies_offered; /* 0: there is none to help with */
void tpsl_copies_help(void);

#endif
