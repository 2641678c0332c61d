// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Objects that ld.so has loaded, as members of scopes. Objects of an instance may come before them and
 * after them in a scope, so a lookup must know which of them defines a name. Their symbol tables are
 * read here; ld.so tells the address of a symbol.
 */
#include "dl.h"

static struct tpsl_object *_Atomic all; /* linked by ->next; never freed, because ld.so's handles are never closed */

static void read_tables(struct tpsl_object *o, const struct link_map *map)
{
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        switch (d->d_tag) {
        case DT_SYMTAB:
            o->symtab = tpsl_dynamic_pointer(map, d);
            break;
        case DT_STRTAB:
            o->strtab = tpsl_dynamic_pointer(map, d);
            break;
        case DT_GNU_HASH:
            o->gnu_hash = tpsl_dynamic_pointer(map, d);
            break;
        case DT_HASH:
            o->sysv_hash = tpsl_dynamic_pointer(map, d);
            break;
        case DT_VERSYM:
            o->versym = tpsl_dynamic_pointer(map, d);
            break;
        case DT_VERDEF:
            o->verdef = tpsl_dynamic_pointer(map, d);
            break;
        case DT_VERDEFNUM:
            o->verdefnum = d->d_un.d_val;
            break;
        }
}

struct tpsl_object *tpsl_ldso_object_new(void *handle, bool c_library)
{
    struct link_map *map;
    struct tpsl_object *o = tpsl_object_new(0);
    if (!o || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return NULL;
    o->ldso_handle = handle;
    o->c_library = c_library;
    read_tables(o, map);
    struct tpsl_object *before = atomic_load(&all);
    do
        atomic_store(&o->next, before);
    while (!atomic_compare_exchange_weak(&all, &before, o));
    return o;
}

bool tpsl_in_c_library(const char *name, const char *version, const void *found)
{
    for (struct tpsl_object *o = atomic_load(&all); o; o = atomic_load(&o->next))
        if (o->c_library && tpsl_object_symbol(o, name, version) &&
            found == (version ? dlvsym(o->ldso_handle, name, version) : dlsym(o->ldso_handle, name)))
            return true;
    return false;
}
