// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions of the MPI library that are newer than the list of names. "tpsl names" makes stand-ins with a
 * stub for each (internal/importlib). These stubs jump to the first stubs of ours that have no names, and the
 * stand-ins tell us here what these are called.
 */
#include "dispatch.h"

/* For the stubs of stand-ins. */
void *const *const tpsl_unlisted_stubs = tpsl_private_stubs;

static const char *const *_Atomic unlisted;
static const char *const none[] = {NULL};

/* Called by the constructors of stand-ins, with a list that ends with NULL. All stand-ins of an installation
 * are made at once, and have the same list. */
void tpsl_name_unlisted(const char *const *list)
{
    atomic_store(&unlisted, list);
}

const char *const *tpsl_unlisted(void)
{
    const char *const *list = atomic_load(&unlisted);
    return list ? list : none;
}
