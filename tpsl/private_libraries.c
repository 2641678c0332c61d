// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Libraries of the program that every rank has to itself: opened in each instance, and
 * reached through the same table as the MPI library.
 */
#include "dispatch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The copies of one rank. */
struct tpsl_copies {
    const struct tpsl_libraries *libraries;
    bool prepared;
    struct tpsl_object *objects[]; /* by index in libraries->private */
};

static void *must_have(void *memory)
{
    if (!memory)
        tpsl_die(1, "no memory for the program's private libraries");
    return memory;
}

/* In the library itself: a name may stand in the MPI library's closure, too. */
static void *in_copy(const struct tpsl_copies *c, int library, const char *name)
{
    return tpsl_object_address(c->objects[library], name);
}

struct tpsl_copies *tpsl_open_private(const struct tpsl_libraries *l, char **error)
{
    if (l->nprivate == 0)
        return NULL;
    struct tpsl_copies *c = must_have(calloc(1, sizeof *c + (size_t)l->nprivate * sizeof *c->objects));
    c->libraries = l;
    for (int i = 0; i < l->nprivate && !*error; i++) {
        const struct tpsl_private_library *p = &l->private[i];
        c->objects[i] = tpsl_dlopen(p->file, RTLD_NOW | RTLD_GLOBAL);
        if (!c->objects[i])
            *error = must_have(strdup(tpsl_dlerror()));
        else if (*p->prepare && !in_copy(c, i, p->prepare))
            (void)!asprintf(error, "%s has no function %s to prepare it", p->file, p->prepare);
    }
    return c;
}

/* The program's variables get the values of this copy. Those of the others are the same,
 * or the library could not have one variable for the program. */
void tpsl_prepare_private(struct tpsl_copies *c)
{
    if (!c || c->prepared)
        return;
    c->prepared = true;
    const struct tpsl_libraries *l = c->libraries;
    for (int i = 0; i < l->nprivate; i++)
        if (*l->private[i].prepare) {
            int error; /* of a subroutine of Fortran; a function of C takes nothing and ignores it */
            ((void (*)(int *))in_copy(c, i, l->private[i].prepare))(&error);
        }
    for (const struct tpsl_private_symbol *v = l->variables; v < l->variables + l->nvariables; v++) {
        const void *copy = in_copy(c, v->library, v->name);
        if (v->address && copy && memcmp(v->address, copy, v->size) != 0)
            memcpy(v->address, copy, v->size);
    }
}

void tpsl_fill_private(void **table, const struct tpsl_copies *c)
{
    const struct tpsl_libraries *l = c->libraries;
    for (int i = 0; i < l->nfunctions; i++)
        table[TPSL_NSTUBS + l->nunlisted + i] = in_copy(c, l->functions[i].library, l->functions[i].name);
}

const char *tpsl_private_name(const struct tpsl_libraries *l, int stub)
{
    int i = stub - TPSL_NSTUBS - l->nunlisted;
    return i >= 0 && i < l->nfunctions ? l->functions[i].name : NULL;
}
