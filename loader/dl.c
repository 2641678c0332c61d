// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* dlopen and its family, as code inside an instance sees them: handles of
 * private objects are struct tpsl_object pointers; everything else is ld.so's.
 */
#include "loader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The thread's dlerror text, from malloc, and whether it is pending; ours wins over
 * ld.so's. It stays for the caller until the next one, or the end of the thread. */
static __thread char *message __attribute__((tls_model("initial-exec")));
static __thread bool pending __attribute__((tls_model("initial-exec")));

static void *refuse(const char *format, const char *what)
{
    char *text;
    if (asprintf(&text, format, what) < 0)
        text = NULL;
    free(message);
    message = text;
    pending = true;
    tpsl_tls_watch_thread();
    return NULL;
}

void tpsl_refuse(const char *text)
{
    refuse("%s", text);
}

void tpsl_dlerror_leave(void)
{
    free(message);
    message = NULL;
    pending = false;
}

char *tpsl_own_error(void)
{
    if (!pending)
        return NULL;
    pending = false;
    return message ? message : "no memory for the message";
}

char *tpsl_dlerror(void)
{
    char *own = tpsl_own_error();
    return own ? own : dlerror();
}

/* A private object stays mapped as long as its instance, as POSIX allows and musl does: its code may be on some thread's stack or in another's callback. */
int tpsl_dlclose(void *handle)
{
    TPSL_INSIDE;
    if (!tpsl_is_object(handle))
        return dlclose(handle);
    struct tpsl_object *o = handle;
    if (atomic_fetch_sub(&o->refs, 1) > 0)
        return 0;
    atomic_fetch_add(&o->refs, 1);
    refuse("dlclose: %s is not open", o->map.l_name);
    return -1;
}

static void *program; /* ld.so's handle of the global scope */

__attribute__((constructor(101))) static void open_program(void)
{
    program = dlopen(NULL, RTLD_LAZY);
}

void *tpsl_process_symbol(const char *name, const char *version)
{
    TPSL_INSIDE;
    void *found = version ? dlvsym(program, name, version) : dlsym(program, name);
    if (found)
        return found;
    return version ? dlvsym(RTLD_DEFAULT, name, version) : dlsym(RTLD_DEFAULT, name);
}

void *tpsl_host_function(const char *name, const void *ours)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        found = tpsl_process_symbol(name, NULL);
    return found == ours ? NULL : found;
}

static bool has_versions(const void *definition)
{
    Dl_info info;
    struct link_map *map;
    if (!dladdr1(definition, &info, (void **)&map, RTLD_DL_LINKMAP))
        return false;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_VERDEF)
            return true;
    return false;
}

void *tpsl_process_definition(const char *name, const char *version)
{
    void *first = dlsym(program, name);
    return first && !has_versions(first) ? first : tpsl_process_symbol(name, version);
}

static void *lookup(void *handle, const char *name, const char *version, const void *caller)
{
    TPSL_INSIDE;
    pending = false;
    dlerror(); /* what the last call left */
    if (handle == RTLD_NEXT)
        return tpsl_find_next(caller, name, version);
    if (handle == RTLD_DEFAULT)
        return tpsl_find_default(caller, name, version);
    if (handle == program)
        return tpsl_find_global(caller, name, version);
    void *found = tpsl_find_in(handle, caller, name, version);
    return found || !tpsl_is_object(handle) ? found : refuse("undefined symbol: %s", name);
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
        refuse("dlinfo: this request is not answered for the private object %s", o->map.l_name);
        return -1;
    }
}
