/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Thread-local storage of private objects: inside the loader. tls_static.c uses tls.c, and
 * not the other way.
 */
#ifndef TPSL_TLS_H
#define TPSL_TLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpsl_instance;
struct tpsl_object;

/* ---- tls.c: found by module and offset (general- and local-dynamic model) ---- */
/* The PT_TLS segment of an object in memory, and where it goes. */
struct tpsl_tls_segment {
    const void *init;
    size_t filesz, memsz, align;
    size_t in_static_block;        /* its start, below the end of each thread's block; 0: not there */
    ptrdiff_t from_thread_pointer; /* of its start, if it is in that block */
};
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

/* ---- tls_desc_linux_amd64.S: first words of TLS descriptors; no functions for C ---- */
struct tpsl_tls_index {
    uintptr_t module, offset;
};
void tpsl_tlsdesc_static(void);  /* the second word: distance from the thread pointer */
void tpsl_tlsdesc_absent(void);  /* the address */
void tpsl_tlsdesc_dynamic(void); /* pointer to a struct tpsl_tls_index */

/* ---- tls_static.c: at a fixed distance from the thread pointer (initial-exec and local-exec model) ---- */
enum {
    TPSL_STATIC_TLS = 512,     /* bytes of libtpsl's block, small enough that a program may dlopen it */
    TPSL_STATIC_TLS_ALIGN = 64 /* of a block's end: that of the thread pointer */
};

/* Values of such thread-locals of an instance. */
struct tpsl_static_tls {
    _Atomic size_t size; /* bytes of the block that the instance uses, at its end */
    char *image;         /* a whole block of initial values; NULL: none of its objects has any */
    uintptr_t kept;      /* module whose blocks keep threads' values while they act for others */
};

ptrdiff_t tpsl_static_tls_offset(void); /* of the block's end, from the thread pointer */
/* Whether a block was lent that ends at the thread pointer, as the local-exec model wants. Our own block may end there in
 * an executable, but that is the linker's choice. */
bool tpsl_static_tls_is_for_programs(void);
bool tpsl_static_tls_prepare(struct tpsl_instance *); /* false: no memory */
void tpsl_static_tls_add(struct tpsl_instance *, struct tpsl_object *const *, size_t n);
void tpsl_static_tls_end_instance(struct tpsl_instance *);
/* For tpsl_become: sets *current, which is the calling thread's tpsl_current, and gives the block the values of that
 * instance; NULL: of none. */
void tpsl_static_tls_turn(struct tpsl_instance **current, struct tpsl_instance *);

#endif
