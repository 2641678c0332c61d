// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Finds out what is at an address: the file, the offset in it, and the nearest symbol. This
 * works for instances and for objects that ld.so loaded. It takes no lock and allocates no
 * memory, so a signal handler may call it.
 */
#include "dl.h"

#include <errno.h>
#include <string.h>

/* A dynamic symbol table in memory. */
struct table {
    uintptr_t base; /* added to the values of symbols */
    const ElfW(Sym) * symbols;
    size_t n;
    const char *strings;
};

/* The symbol that covers the address, or NULL if there is none. */
static const ElfW(Sym) * covering(const struct table *t, uintptr_t address)
{
    const ElfW(Sym) *best = NULL;
    for (size_t i = 1; i < t->n; i++) {
        const ElfW(Sym) *s = &t->symbols[i];
        uintptr_t at = t->base + s->st_value;
        if (s->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s->st_info) == STT_TLS || at > address)
            continue;
        if (address < at + (s->st_size ? s->st_size : 1) && (!best || s->st_value > best->st_value))
            best = s;
    }
    return best;
}

static void name(const struct table *t, uintptr_t address, struct tpsl_location *out)
{
    const ElfW(Sym) *s = covering(t, address);
    if (!s)
        return;
    out->symbol = t->strings + s->st_name;
    out->symbol_start = t->base + s->st_value;
}

/* The hash table says how long the symbol table is, because ld.so's own tables do not. */
static size_t count(const uint32_t *gnu_hash)
{
    uint32_t nbuckets = gnu_hash[0], first = gnu_hash[1], bloom_size = gnu_hash[2], last = 0;
    const uint32_t *buckets = gnu_hash + 4 + 2 * bloom_size, *chain = buckets + nbuckets;
    for (uint32_t i = 0; i < nbuckets; i++)
        if (buckets[i] > last)
            last = buckets[i];
    if (last < first)
        return first;
    while (!(chain[last - first] & 1))
        last++;
    return last + 1;
}

/* The table of an object that ld.so has loaded. */
static struct table table_of(const struct link_map *map)
{
    struct table t = {.base = map->l_addr};
    const uint32_t *hash = NULL;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        const void *p = tpsl_dynamic_pointer(map, d);
        if (d->d_tag == DT_SYMTAB)
            t.symbols = p;
        else if (d->d_tag == DT_STRTAB)
            t.strings = p;
        else if (d->d_tag == DT_GNU_HASH)
            hash = p;
    }
    if (t.symbols && t.strings && hash)
        t.n = count(hash);
    return t;
}

static bool locate_in_ldso(uintptr_t address, struct tpsl_location *out)
{
    struct dl_find_object found;
    if (tpsl_ldso_find_object((void *)address, &found) != 0)
        return false;
    const struct link_map *map = found.dlfo_link_map;
    const char *path = *map->l_name ? map->l_name : program_invocation_name, *slash = strrchr(path, '/');
    *out = (struct tpsl_location){.object = slash ? slash + 1 : path, .path = map->l_name, .base = map->l_addr};
    struct table t = table_of(map);
    name(&t, address, out);
    return true;
}

bool tpsl_locate(const void *at, struct tpsl_location *out)
{
    uintptr_t address = (uintptr_t)at;
    const struct tpsl_object *o = tpsl_object_at(at);
    if (!o)
        return locate_in_ldso(address, out);
    *out = (struct tpsl_location){.object = o->soname, .path = o->map.l_name, .base = o->map.l_addr};
    struct table t = {o->map.l_addr, o->symtab, o->nsymbols, o->strtab};
    name(&t, address, out);
    return true;
}
