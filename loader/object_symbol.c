// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Looks up what an object in memory defines, by name and version. */
#include "object.h"

#include <string.h>

static uint32_t gnu_hash(const char *name)
{
    uint32_t h = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        h = h * 33 + *c;
    return h;
}

static uint32_t sysv_hash(const char *name)
{
    uint32_t h = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        h = (h << 4) + *c;
        h ^= (h >> 24) & 0xf0;
    }
    return h & 0x0fffffff;
}

/* Name of version index `ndx` among the definitions of the object. */
static const char *version_name(const struct tpsl_object *o, unsigned ndx)
{
    const char *p = o->verdef;
    for (size_t i = 0; p && i < o->verdefnum; i++) {
        const ElfW(Verdef) *d = (const void *)p;
        if ((d->vd_ndx & 0x7fff) == ndx)
            return o->strtab + ((const ElfW(Verdaux) *)(p + d->vd_aux))->vda_name;
        p += d->vd_next;
    }
    return NULL;
}

static bool matches(const struct tpsl_object *o, uint32_t i, const char *name, const char *version)
{
    const ElfW(Sym) *s = &o->symtab[i];
    unsigned vis = ELF64_ST_VISIBILITY(s->st_other);
    if (s->st_shndx == SHN_UNDEF || ELF64_ST_BIND(s->st_info) == STB_LOCAL || vis == STV_HIDDEN || vis == STV_INTERNAL)
        return false;
    if (strcmp(o->strtab + s->st_name, name) != 0)
        return false;
    if (!o->versym || !o->verdef)
        return true;
    if (!version)
        return !(o->versym[i] & 0x8000);
    const char *have = version_name(o, o->versym[i] & 0x7fff);
    return have && strcmp(have, version) == 0;
}

static const ElfW(Sym) * lookup_gnu(const struct tpsl_object *o, const char *name, const char *version)
{
    const uint32_t *h = o->gnu_hash;
    uint32_t nbuckets = h[0], symoffset = h[1], bloom_size = h[2], bloom_shift = h[3];
    const uint64_t *bloom = (const void *)(h + 4);
    const uint32_t *buckets = (const void *)(bloom + bloom_size);
    const uint32_t *chain = buckets + nbuckets;
    uint32_t hash = gnu_hash(name);
    uint64_t word = bloom[(hash / 64) % bloom_size];
    if (!((word >> (hash % 64)) & (word >> ((hash >> bloom_shift) % 64)) & 1))
        return NULL;
    uint32_t i = buckets[hash % nbuckets];
    if (i < symoffset)
        return NULL;
    for (;; i++) {
        uint32_t c = chain[i - symoffset];
        if (((c ^ hash) >> 1) == 0 && matches(o, i, name, version))
            return &o->symtab[i];
        if (c & 1)
            return NULL;
    }
}

static const ElfW(Sym) * lookup_sysv(const struct tpsl_object *o, const char *name, const char *version)
{
    const uint32_t *h = o->sysv_hash;
    const uint32_t *buckets = h + 2, *chain = buckets + h[0];
    for (uint32_t i = buckets[sysv_hash(name) % h[0]]; i; i = chain[i])
        if (matches(o, i, name, version))
            return &o->symtab[i];
    return NULL;
}

const ElfW(Sym) * tpsl_object_symbol(const struct tpsl_object *o, const char *name, const char *version)
{
    if (o->gnu_hash && o->gnu_hash[0] && o->gnu_hash[2])
        return lookup_gnu(o, name, version);
    if (o->sysv_hash && o->sysv_hash[0])
        return lookup_sysv(o, name, version);
    return NULL;
}

void *tpsl_symbol_address(struct tpsl_object *o, const ElfW(Sym) * s)
{
    uintptr_t address = (s->st_shndx == SHN_ABS ? 0 : o->map.l_addr) + s->st_value;
    switch (ELF64_ST_TYPE(s->st_info)) {
    case STT_TLS: {
        uintptr_t index[2] = {o->tls_module, s->st_value};
        return tpsl_tls_get_addr(index);
    }
    case STT_GNU_IFUNC:
        return ((void *(*)(void))address)();
    default:
        return (void *)address;
    }
}

void *tpsl_scope_symbol(struct tpsl_object *const *scope, size_t n, const char *name, const char *version)
{
    for (size_t i = 0; i < n; i++) {
        const ElfW(Sym) *s = scope[i]->ldso_handle ? NULL : tpsl_object_symbol(scope[i], name, version);
        if (s)
            return tpsl_symbol_address(scope[i], s);
    }
    return NULL;
}

void *tpsl_instance_symbol(struct tpsl_instance *in, const char *name, const char *version)
{
    const struct tpsl_scope *global = atomic_load_explicit(&in->global, memory_order_acquire);
    return global ? tpsl_scope_symbol(global->objects, global->n, name, version) : NULL;
}

void *tpsl_object_address(struct tpsl_object *o, const char *name)
{
    return tpsl_scope_symbol(&o, 1, name, NULL);
}
