// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The two functions by which unwinders and sanitizers learn of objects, for objects
 * that ld.so does not know. The library or program that this is linked into exports
 * them in front of ld.so's and libc's, so libgcc_s comes here with every frame.
 *
 * Code of instances gets libc's own dl_iterate_phdr (rebind.c): libucm walks objects to
 * change their GOTs, and those of instances are not its business.
 */
#include "loader.h"

typedef int visitor(struct dl_phdr_info *, size_t, void *);
typedef int finder(void *, struct dl_find_object *);
typedef int iterator(visitor *, void *);

static finder *_Atomic host_find;
static iterator *_Atomic host_iterate;

/* At load, when the loader knows the program (dl.c), as dlsym takes locks and a throw may
 * come anywhere; a constructor may ask even before. glibc before 2.35 has no
 * _dl_find_object, and nothing that calls it. */
__attribute__((constructor(102))) static void find_hosts(void)
{
    atomic_store(&host_find, (finder *)tpsl_host_function("_dl_find_object", _dl_find_object));
    atomic_store(&host_iterate, (iterator *)tpsl_host_function("dl_iterate_phdr", dl_iterate_phdr));
}

static finder *find_in_host(void)
{
    if (!atomic_load_explicit(&host_find, memory_order_acquire))
        find_hosts();
    return atomic_load_explicit(&host_find, memory_order_acquire);
}

/* Both came with 2.35: _dl_find_object and the version of <link.h>'s r_debug with r_next. */
bool tpsl_has_namespaces(void)
{
    return find_in_host() != NULL;
}

int tpsl_host_iterate_phdr(visitor *visit, void *data)
{
    TPSL_INSIDE;
    if (!atomic_load_explicit(&host_iterate, memory_order_acquire))
        find_hosts();
    return atomic_load_explicit(&host_iterate, memory_order_acquire)(visit, data);
}

int _dl_find_object(void *address, struct dl_find_object *result)
{
    finder *host = find_in_host();
    if (host && host(address, result) == 0)
        return 0;
    struct tpsl_object *o = tpsl_object_at(address);
    if (!o)
        return -1;
    *result = (struct dl_find_object){
        .dlfo_map_start = (void *)o->start,
        .dlfo_map_end = (void *)o->end,
        .dlfo_link_map = &o->map,
        .dlfo_eh_frame = o->eh_frame_hdr,
    };
    return 0;
}

/* One walk. Its counters tell callers whether what they remember is out of date, so all
 * objects of a walk carry the same ones. */
struct walk {
    visitor *visit;
    void *data;
    size_t published, withdrawn;
    unsigned long long adds, subs;
};

static int visit_host(struct dl_phdr_info *info, size_t size, void *data)
{
    struct walk *w = data;
    struct dl_phdr_info copy = *info;
    copy.dlpi_adds += w->published;
    copy.dlpi_subs += w->withdrawn;
    w->adds = copy.dlpi_adds;
    w->subs = copy.dlpi_subs;
    return w->visit(&copy, size, w->data);
}

int dl_iterate_phdr(visitor *visit, void *data)
{
    TPSL_INSIDE;
    tpsl_walk_begin();
    struct walk w = {.visit = visit, .data = data, .published = tpsl_published(), .withdrawn = tpsl_withdrawn()};
    int rc = tpsl_host_iterate_phdr(visit_host, &w);
    struct tpsl_object *o = tpsl_first_published();
    for (size_t i = w.withdrawn; i < w.published && rc == 0; i++, o = tpsl_next_published(o)) {
        struct dl_phdr_info info = {
            .dlpi_addr = o->map.l_addr,
            .dlpi_name = o->map.l_name,
            .dlpi_phdr = o->phdr,
            .dlpi_phnum = o->phdr ? (ElfW(Half))o->phnum : 0,
            .dlpi_adds = w.adds,
            .dlpi_subs = w.subs,
            .dlpi_tls_modid = o->tls_module,
            .dlpi_tls_data = tpsl_tls_block(o->tls_module),
        };
        rc = visit(&info, sizeof info, data);
    }
    tpsl_walk_end();
    return rc;
}
