/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * main: each OpenMP thread is a rank. Under OMP_NUM_THREADS=1 the program is one of flat MPI.
 */
static void be_rank(int *argc, char ***argv);

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int n = argc;
        char **v = argv;
        be_rank(&n, &v);
    }
    return 0;
}
