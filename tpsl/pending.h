/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A request that nothing completes: a look at it lets the MPI library of its rank work. For MPICH's ABI.
 */
#ifndef TPSL_PENDING_H
#define TPSL_PENDING_H

#include <stdbool.h>

struct tpsl_endpoint;

struct tpsl_pending {
    int request;
    int (*status)(int request, int *done, void *status);
    int (*complete)(int request);
    int (*wait)(int *request, void *status);
};

/* For the rank that the calling thread acts for, by the functions of its library that no wrapper stands in front of. False: it has none, or they
 * fail. */
bool tpsl_pending_start(struct tpsl_pending *);
/* Several threads of a rank may look at once. False: the library failed at what it did. */
bool tpsl_pending_look(struct tpsl_pending *);
void tpsl_pending_end(struct tpsl_pending *); /* before MPI_Finalize */

#endif
