/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * missing_symbol: a library like MPI that needs a function which nobody has.
 */
int nobody_has_this(void);

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return nobody_has_this();
}
