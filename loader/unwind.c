// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The two functions that tell unwinders and sanitizers about objects that ld.so does not know. The
 * library or program that this is linked into exports them in front of ld.so's and libc's, so libgcc_s
 * calls them for every frame.
 *
 * Code of instances gets libc's own dl_iterate_phdr (libc.c): libucm changes the GOTs of the objects
 * that it finds, and must not change those of instances.
 */
#include "dl.h"

typedef int visitor(struct dl_phdr_info *, size_t, void *);

int _dl_find_object(void *address, struct dl_find_object *result)
{
    if (tpsl_ldso_find_object(address, result) == 0)
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

/* One call of dl_iterate_phdr. Its counters tell callers whether what they remember is out of
 * date, so all objects of a call carry the same ones. */
struct iteration {
    visitor *visit;
    void *data;
    size_t published, withdrawn;
    unsigned long long adds, subs;
};

static int visit_ldsos(struct dl_phdr_info *info, size_t size, void *data)
{
    struct iteration *w = data;
    struct dl_phdr_info copy = *info;
    copy.dlpi_adds += w->published;
    copy.dlpi_subs += w->withdrawn;
    w->adds = copy.dlpi_adds;
    w->subs = copy.dlpi_subs;
    return w->visit(&copy, size, w->data);
}

static void release_objects(struct iteration *w)
{
    (void)w;
    tpsl_objects_release();
}

/* The visitor may leave by an exception, or be cancelled. */
int dl_iterate_phdr(visitor *visit, void *data)
{
    TPSL_INSIDE;
    tpsl_objects_hold();
    __attribute__((cleanup(release_objects))) struct iteration w = {.visit = visit, .data = data, .published = tpsl_published(), .withdrawn = tpsl_withdrawn()};
    int rc = tpsl_ldso_iterate_phdr(visit_ldsos, &w);
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
    return rc;
}
