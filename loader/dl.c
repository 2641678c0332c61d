// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* dlsym, dlclose and similar functions, for code inside an instance. A handle of a
 * private object is a pointer to its struct tpsl_object; all other handles are ld.so's.
 * dlopen is in dl_open.c.
 */
#include "dl.h"
#include "libc.h"

#include <string.h>

/* A private object stays mapped as long as its instance, which POSIX allows. Its code may be on the
 * stack of some thread, or another object may hold a pointer to it. */
int tpsl_dlclose(void *handle)
{
    TPSL_INSIDE;
    if (!tpsl_is_object(handle))
        return tpsl_ldso_dlclose(handle);
    struct tpsl_object *o = handle;
    if (atomic_fetch_sub(&o->refs, 1) > 0)
        return 0;
    atomic_fetch_add(&o->refs, 1);
    tpsl_dlerror_set("dlclose: %s is not open", o->map.l_name);
    return -1;
}

static void *lookup(void *handle, const char *name, const char *version, const void *caller)
{
    TPSL_INSIDE;
    tpsl_dlerror_clear(); /* the error of an earlier call */
    if (handle == RTLD_NEXT)
        return tpsl_find_next(caller, name, version);
    if (handle == RTLD_DEFAULT)
        return tpsl_find_default(caller, name, version);
    if (handle == tpsl_program_handle())
        return tpsl_find_global(caller, name, version);
    void *found = tpsl_find_in(handle, caller, name, version);
    if (!found && tpsl_is_object(handle))
        tpsl_dlerror_set("undefined symbol: %s", name);
    return found;
}

void *tpsl_dlsym(void *handle, const char *name)
{
    return lookup(handle, name, NULL, __builtin_return_address(0));
}

void *tpsl_dlvsym(void *handle, const char *name, const char *version)
{
    return lookup(handle, name, version, __builtin_return_address(0));
}

int tpsl_dladdr(const void *address, Dl_info *info)
{
    TPSL_INSIDE;
    struct tpsl_object *o = tpsl_object_at(address);
    struct tpsl_location at;
    if (!o || !tpsl_locate(address, &at))
        return dladdr(address, info);
    *info = (Dl_info){.dli_fname = o->map.l_name, .dli_fbase = (void *)o->start, .dli_sname = at.symbol, .dli_saddr = (void *)at.symbol_start};
    return 1;
}

/* The symbol table's entry (RTLD_DL_SYMENT) is known for ld.so's objects only. */
int tpsl_dladdr1(const void *address, Dl_info *info, void **more, int flags)
{
    TPSL_INSIDE;
    struct tpsl_object *o = tpsl_object_at(address);
    if (!o)
        return dladdr1(address, info, more, flags);
    if (flags == RTLD_DL_SYMENT || !tpsl_dladdr(address, info))
        return 0;
    if (flags == RTLD_DL_LINKMAP)
        *more = &o->map;
    return 1;
}

int tpsl_dlinfo(void *handle, int request, void *out)
{
    TPSL_INSIDE;
    if (!tpsl_is_object(handle))
        return dlinfo(handle, request, out);
    struct tpsl_object *o = handle;
    switch (request) {
    case RTLD_DI_LINKMAP:
        *(struct link_map **)out = &o->map;
        return 0;
    case RTLD_DI_ORIGIN: {
        const char *slash = strrchr(o->map.l_name, '/');
        size_t n = slash ? (size_t)(slash - o->map.l_name) : 0;
        memcpy(out, o->map.l_name, n);
        ((char *)out)[n] = 0;
        return 0;
    }
    case RTLD_DI_TLS_MODID:
        *(size_t *)out = o->tls_module;
        return 0;
    default:
        tpsl_dlerror_set("dlinfo: this request is not answered for the private object %s", o->map.l_name);
        return -1;
    }
}
