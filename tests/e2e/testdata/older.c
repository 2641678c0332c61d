/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * older: a library with the MPICH ABI that has few functions, as one that is much older
 * than libtpsl's list. With NEWER it also has some that are on no list; with
 * THREAD_LOCAL (bytes) and TEXTREL, and flags to match, what the loader refuses.
 */
const char MPII_Version_string[] = "0.9-test";

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int MPI_Init(int *argc, char ***argv) __attribute__((alias("PMPI_Init")));

int PMPI_Comm_size(int comm, int *size)
{
    (void)comm;
    *size = 42;
    return 0;
}

#ifndef NO_FINALIZE
int PMPI_Finalize(void)
{
    return 0;
}
#endif

#ifdef NEWER
int MPI_Newer(void)
{
    return 0;
}

int MPIX_Newest(void)
{
    return 0;
}
#endif

#ifdef THREAD_LOCAL
__thread char room[THREAD_LOCAL];
static __thread int calls;

int count(void)
{
    return ++calls;
}
#endif

#ifdef TEXTREL
static int data;

int *address(void)
{
    return &data;
}
#endif
