// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Libraries of the program that every rank has to itself: opened in each instance, and
 * reached through the same table as the MPI library.
 */
#include "dispatch.h"

#include <stdlib.h>
#include <string.h>

static char **files, **names, **preparers; /* NULL-terminated */
static int nnames;

static struct variable {
    struct variable *next;
    void *address; /* the program's */
    char *name;
    size_t size;
} *variables;

void tpsl_set_private(char **libraries, char **functions, char **prepare)
{
    files = libraries;
    names = functions;
    preparers = prepare;
    while (names[nnames])
        nnames++;
}

void tpsl_add_private_variable(char *name, size_t size)
{
    struct variable *v = malloc(sizeof *v);
    if (!v)
        tpsl_die(1, "no memory for a variable of a private library");
    *v = (struct variable){variables, tpsl_process_symbol(name, NULL), name, size};
    variables = v;
}

char *tpsl_open_private(void)
{
    for (char **f = files; f && *f; f++)
        if (!tpsl_dlopen(*f, RTLD_NOW | RTLD_GLOBAL))
            return strdup(tpsl_dlerror());
    return NULL;
}

/* The program's variables get the values of this copy. Those of the others are the same,
 * or the library could not have one variable for the program. */
void tpsl_prepare_private(struct tpsl_instance *in)
{
    for (char **p = preparers; p && *p; p++) {
        int error; /* of a subroutine of Fortran; a function of C takes nothing and ignores it */
        void (*prepare)(int *) = tpsl_instance_symbol(in, *p, NULL);
        if (prepare)
            prepare(&error);
    }
    for (struct variable *v = variables; v; v = v->next) {
        const void *copy = tpsl_instance_symbol(in, v->name, NULL);
        if (v->address && copy && memcmp(v->address, copy, v->size) != 0)
            memcpy(v->address, copy, v->size);
    }
}

void tpsl_fill_private(void **table, struct tpsl_instance *in)
{
    for (int i = 0; i < nnames; i++)
        table[TPSL_NSTUBS + i] = tpsl_instance_symbol(in, names[i], NULL);
}

const char *tpsl_private_name(int stub)
{
    int i = stub - TPSL_NSTUBS;
    return i >= 0 && i < nnames ? names[i] : NULL;
}
