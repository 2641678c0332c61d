/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Operations of reductions, for the handles of MPICH's ABI.
 */
#ifndef TPSL_FOLD_H
#define TPSL_FOLD_H

#include <stddef.h>

/* to[i] = a[i] op b[i] for n elements. `to` may be a or b. */
typedef void tpsl_fold(void *to, const void *a, const void *b, size_t n);

/* The function of a predefined operation on a predefined type, whose elements have *width bytes. NULL: the MPI library does it, or
 * says that it cannot be done. */
tpsl_fold *tpsl_fold_of(int op, int type, size_t *width);

#endif
