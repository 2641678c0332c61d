// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The end of an instance: its destructors run, all lists forget it, and its memory is unmapped. C calls
 * libc's munmap, with no Go frame below, because libucm's hook on munmap runs code of other instances.
 */
#include "dl.h"
#include "libc.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "_cgo_export.h"

static void free_object(struct tpsl_object *o)
{
    munmap((void *)o->start, o->end - o->start);
    if (o->tls_module)
        tpsl_tls_module_end(o->tls_module);
    free(o->descriptors);
    free(o->map.l_name);
    free((char *)o->soname);
    free(o->scope);
    free(o->ifuncs);
    free(o->init);
    free(o->fini);
    tpsl_object_spare(o);
}

void tpsl_instance_free(struct tpsl_instance *in)
{
    for (char **e = in->environment; e && *e; e++)
        free(*e);
    free(in->environment);
    tpsl_static_tls_end_instance(in);
    tpsl_scopes_end_instance(in);
    free(in);
}

bool tpsl_instance_close(struct tpsl_instance *in)
{
    tpsl_instance_finish(in);
    tpsl_signals_end_instance(in);
    tpsl_segments_end_instance(in);
    if (tpsl_current == in)
        tpsl_become(NULL);
    tpslLoaderForget(in);
    if (in->stays)
        return false;
    tpsl_keys_end_instance(in);
    tpsl_debugger_before(RT_DELETE);
    tpsl_instance_withdraw(in);
    tpsl_debugger_after();
    for (struct tpsl_object *o = in->first, *next; o; o = next) {
        next = o->next;
        free_object(o);
    }
    tpsl_instance_free(in);
    return true;
}
