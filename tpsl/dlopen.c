// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* TPSL_Dlopen and its family: private copies of any library for programs that ask for them. They do not
 * belong to ranks.
 */
#include "dispatch.h"
#include "tpsl.h"

#include <stdlib.h>

struct copy {
    struct copy *older;
    struct tpsl_instance *instance; /* the handle */
};
static struct copy *newest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *TPSL_Dlopen(const char *library)
{
    char *error = NULL;
    tpsl_dlerror_own();
    struct copy *c = malloc(sizeof *c);
    struct tpsl_instance *in = c ? tpsl_open_unbound(library, &error) : NULL;
    if (!in) {
        tpsl_dlerror_set("TPSL_Dlopen: %s", error ? error : "no memory");
        free(error);
        free(c);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    *c = (struct copy){newest, in};
    newest = c;
    pthread_mutex_unlock(&lock);
    return in;
}

/* The link to a copy in the list. Preconditions: lock. */
static struct copy **find(const void *handle)
{
    struct copy **link = &newest;
    while (*link && (*link)->instance != handle)
        link = &(*link)->older;
    return link;
}

void *TPSL_Dlsym(void *copy, const char *name)
{
    tpsl_dlerror_own();
    pthread_mutex_lock(&lock);
    bool open = *find(copy) != NULL;
    pthread_mutex_unlock(&lock);
    void *found = open ? tpsl_instance_symbol(copy, name, NULL) : NULL;
    if (!open)
        tpsl_dlerror_set("TPSL_Dlsym: this copy is not open");
    else if (!found)
        tpsl_dlerror_set("TPSL_Dlsym: %s is not defined by this copy", name);
    return found;
}

int TPSL_Dlclose(void *copy)
{
    tpsl_dlerror_own();
    pthread_mutex_lock(&lock);
    struct copy **link = find(copy), *c = *link;
    if (c)
        *link = c->older;
    pthread_mutex_unlock(&lock);
    if (!c) {
        tpsl_dlerror_set("TPSL_Dlclose: this copy is not open");
        return -1;
    }
    free(c);
    tpsl_instance_close(copy);
    return 0;
}

char *TPSL_Dlerror(void)
{
    return tpsl_dlerror_own();
}

void tpsl_finish_dlopened(void)
{
    for (struct copy *c = newest; c; c = c->older)
        tpsl_instance_finish(c->instance);
}
