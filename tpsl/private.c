// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Libraries of the program that every rank has to itself: opened in each instance, and
 * reached through the same table as the MPI library.
 */
#include "dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct library {
    char *file, *prepare;
};

/* A function or variable that the program uses. */
struct symbol {
    char *name;
    int library;
    size_t size;
    void *address; /* of a variable: the program's */
};

static struct library *libraries;
static struct symbol *functions, *variables;
static int nlibraries, nfunctions, nvariables;

/* The copies of one rank. */
struct tpsl_copies {
    bool prepared;
    struct tpsl_object *objects[];
};

static void *must_have(void *memory)
{
    if (!memory)
        tpsl_die(1, "no memory for the program's private libraries");
    return memory;
}

/* Makes room for one more. */
static void *grow(void *list, int n, size_t size)
{
    return must_have(realloc(list, (size_t)(n + 1) * size));
}

void tpsl_add_private_library(char *file, char *prepare)
{
    libraries = grow(libraries, nlibraries, sizeof *libraries);
    libraries[nlibraries++] = (struct library){file, prepare};
}

void tpsl_add_private_function(char *name, int library)
{
    functions = grow(functions, nfunctions, sizeof *functions);
    functions[nfunctions++] = (struct symbol){name, library, 0, NULL};
}

void tpsl_add_private_variable(char *name, int library, size_t size)
{
    variables = grow(variables, nvariables, sizeof *variables);
    variables[nvariables++] = (struct symbol){name, library, size, tpsl_process_symbol(name, NULL)};
}

/* In the library itself: a name may stand in the MPI library's closure, too. */
static void *in_copy(const struct tpsl_copies *c, int library, const char *name)
{
    return tpsl_scope_symbol(&c->objects[library], 1, name, NULL);
}

struct tpsl_copies *tpsl_open_private(char **error)
{
    if (nlibraries == 0)
        return NULL;
    struct tpsl_copies *c = must_have(calloc(1, sizeof *c + (size_t)nlibraries * sizeof *c->objects));
    for (int i = 0; i < nlibraries; i++) {
        c->objects[i] = tpsl_dlopen(libraries[i].file, RTLD_NOW | RTLD_GLOBAL);
        if (!c->objects[i])
            *error = must_have(strdup(tpsl_dlerror()));
        else if (*libraries[i].prepare && !in_copy(c, i, libraries[i].prepare))
            (void)!asprintf(error, "%s has no function %s to prepare it", libraries[i].file, libraries[i].prepare);
        if (*error)
            break;
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
    for (int i = 0; i < nlibraries; i++)
        if (*libraries[i].prepare) {
            int error; /* of a subroutine of Fortran; a function of C takes nothing and ignores it */
            ((void (*)(int *))in_copy(c, i, libraries[i].prepare))(&error);
        }
    for (const struct symbol *v = variables; v < variables + nvariables; v++) {
        const void *copy = in_copy(c, v->library, v->name);
        if (v->address && copy && memcmp(v->address, copy, v->size) != 0)
            memcpy(v->address, copy, v->size);
    }
}

void tpsl_fill_private(void **table, const struct tpsl_copies *c)
{
    for (int i = 0; i < nfunctions; i++)
        table[TPSL_NSTUBS + i] = in_copy(c, functions[i].library, functions[i].name);
}

int tpsl_private_count(void)
{
    return nfunctions;
}

const char *tpsl_private_name(int stub)
{
    int i = stub - TPSL_NSTUBS;
    return i >= 0 && i < nfunctions ? functions[i].name : NULL;
}
