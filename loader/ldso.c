// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Questions to ld.so: which names the process defines, which function comes after a function
 * of ours, and which objects are loaded.
 */
#include "dl.h"

static void *program; /* ld.so's handle of the global scope */

__attribute__((constructor(101))) static void open_program(void)
{
    program = dlopen(NULL, RTLD_LAZY);
}

static void *(*ldsos_dlopen)(const char *path, int mode);
static int (*ldsos_dlclose)(void *handle);

__attribute__((constructor(101))) static void find_dlopen(void)
{
    ldsos_dlopen = (void *(*)(const char *, int))dlsym(RTLD_DEFAULT, "dlopen");
    ldsos_dlclose = (int (*)(void *))dlsym(RTLD_DEFAULT, "dlclose");
}

void *tpsl_ldso_dlopen(const char *path, int mode)
{
    return ldsos_dlopen ? ldsos_dlopen(path, mode) : dlopen(path, mode);
}

int tpsl_ldso_dlclose(void *handle)
{
    return ldsos_dlclose ? ldsos_dlclose(handle) : dlclose(handle);
}

void *tpsl_program_handle(void)
{
    return program;
}

struct link_map *tpsl_program_map(void)
{
    struct link_map *map = NULL;
    return program && dlinfo(program, RTLD_DI_LINKMAP, &map) == 0 ? map : NULL;
}

void *tpsl_process_symbol(const char *name, const char *version)
{
    TPSL_INSIDE;
    void *found = version ? dlvsym(program, name, version) : dlsym(program, name);
    if (found)
        return found;
    return version ? dlvsym(RTLD_DEFAULT, name, version) : dlsym(RTLD_DEFAULT, name);
}

void *tpsl_function_behind(const char *name, const void *ours)
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

const void *tpsl_dynamic_pointer(const struct link_map *map, const ElfW(Dyn) * d)
{
    return (const void *)(d->d_un.d_ptr < map->l_addr ? d->d_un.d_ptr + map->l_addr : d->d_un.d_ptr);
}

/* ---- what libraries import ---- */

void *tpsl_imported_symbol(void *library, const char *name, const char *version)
{
    void *p = version ? tpsl_process_definition(name, version) : NULL;
    if (!p && library)
        p = version ? dlvsym(library, name, version) : dlsym(library, name);
    return p ? p : tpsl_process_symbol(name, NULL);
}

/* An address in ld.so's static block is at the same distance in every thread. All other addresses are valid in this thread
 * only. ld.so tells sanitizers the size of the block, which ends at the thread pointer. */
ptrdiff_t tpsl_imported_thread_offset(void *library, const char *name, const char *version)
{
    void (*static_info)(size_t *size, size_t *align) = dlsym(RTLD_DEFAULT, "_dl_get_tls_static_info");
    char *p = tpsl_imported_symbol(library, name, version);
    size_t size = 0, align = 0;
    if (!static_info || !p)
        return 0;
    static_info(&size, &align);
    ptrdiff_t offset = p - (char *)__builtin_thread_pointer();
    return offset < 0 && offset >= -(ptrdiff_t)size ? offset : 0;
}

size_t tpsl_imported_tls_module(void *library)
{
    size_t id = 0;
    return dlinfo(library, RTLD_DI_TLS_MODID, &id) == 0 ? id : 0;
}

/* ---- ld.so's functions behind those of unwind.c ---- */

typedef int visitor(struct dl_phdr_info *, size_t, void *);
typedef int finder(void *, struct dl_find_object *);
typedef int iterator(visitor *, void *);

static finder *_Atomic ldsos_find;
static iterator *_Atomic ldsos_iterate;

/* This runs at load, after open_program, because dlsym takes locks, and an exception may be thrown anywhere. A constructor
 * may need the functions even before. glibc before 2.35 has no _dl_find_object, and nothing calls it there. */
__attribute__((constructor(102))) static void find_functions(void)
{
    atomic_store(&ldsos_find, (finder *)tpsl_function_behind("_dl_find_object", _dl_find_object));
    atomic_store(&ldsos_iterate, (iterator *)tpsl_function_behind("dl_iterate_phdr", dl_iterate_phdr));
}

static finder *get_find(void)
{
    if (!atomic_load_explicit(&ldsos_find, memory_order_acquire))
        find_functions();
    return atomic_load_explicit(&ldsos_find, memory_order_acquire);
}

/* _dl_find_object and the version of <link.h>'s r_debug with r_next both came with glibc 2.35. */
bool tpsl_ldso_has_namespaces(void)
{
    return get_find() != NULL;
}

int tpsl_ldso_find_object(void *address, struct dl_find_object *result)
{
    finder *find = get_find();
    return find ? find(address, result) : -1;
}

int tpsl_ldso_iterate_phdr(visitor *visit, void *data)
{
    TPSL_INSIDE;
    if (!atomic_load_explicit(&ldsos_iterate, memory_order_acquire))
        find_functions();
    return atomic_load_explicit(&ldsos_iterate, memory_order_acquire)(visit, data);
}
