/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * fake_openmpi: what Open MPI is known by, for machines without it.
 */
int ompi_mpi_init(void)
{
    return 0;
}

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return ompi_mpi_init();
}
