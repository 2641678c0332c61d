// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Variables of the MPI library that programs name. They live here, once: the
 * program, the libraries around it and every instance see one address (the plan
 * takes them from the process). Types as in mpi.h; sizes as in libmpich.so.12 of all versions.
 *
 * No code of libtpsl may use them by name: it is linked -Bsymbolic, and the program
 * may hold the real one (R_X86_64_COPY).
 */
#include "loader.h"

static int unweighted, weights_empty, all_handles;

int *MPI_UNWEIGHTED = &unweighted;
int *MPI_WEIGHTS_EMPTY = &weights_empty;
void *MPI_T_PVAR_ALL_HANDLES = &all_handles;

int *MPI_F_STATUS_IGNORE;
int *MPI_F_STATUSES_IGNORE;
void *MPIR_C_MPI_UNWEIGHTED;
void *MPIR_C_MPI_WEIGHTS_EMPTY;
/* LOGICALs of Fortran as the binding finds them: 1 and 0 until it sets others. */
int MPIR_fortran_true = 1;
int MPIR_fortran_false;
int MPIR_F08_MPI_BOTTOM;
int MPIR_F08_MPI_IN_PLACE;

struct status {
    int word[5];
};
struct status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
struct status MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
struct status *MPI_F08_STATUS_IGNORE;
struct status *MPI_F08_STATUSES_IGNORE;

static void point(const char *pointer, const char *object)
{
    void **p = tpsl_process_symbol(pointer, NULL), *o = tpsl_process_symbol(object, NULL);
    if (p)
        *p = o;
}

/* The two pointers to objects, wherever the program's symbols ended up. */
__attribute__((constructor)) static void point_to_objects(void)
{
    point("MPI_F08_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ");
    point("MPI_F08_STATUSES_IGNORE", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
}
