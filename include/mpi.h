/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The MPI library's own mpi.h, or with TPSL_STANDARD_ABI that of the standard ABI, and
 * a three-argument MPI_Init beside the standard one: MPI_Init(&argc, &argv, slot).
 */
#ifndef TPSL_MPI_H
#define TPSL_MPI_H

#if defined(TPSL_STANDARD_ABI) && __has_include(<mpi_abi.h>)
#include <mpi_abi.h>
#else
#include_next <mpi.h>
#endif

#include "tpsl.h"

#define TPSL 1

#ifdef __cplusplus
static inline int MPI_Init(int *argc, char ***argv, int slot)
{
    return TPSL_MPI_Init(argc, argv, slot);
}
#else
/* With two arguments this expands to MPI_Init itself, so that programs and tools
 * which define it, call it or take its address see the plain name. */
#define TPSL_CHOOSE_(a, b, c, name, ...) name
#define MPI_Init(...) TPSL_CHOOSE_(__VA_ARGS__, TPSL_MPI_Init, MPI_Init, 0)(__VA_ARGS__)
#endif

#endif
