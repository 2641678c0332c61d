/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * sessions WHAT...: each word is a step that every rank takes.
 *
 *   use       opens a session, computes on a communicator of mpi://WORLD, closes it
 *   keep      opens a session that stays open
 *   close     closes that
 *   init      MPI_Init
 *   finalize  MPI_Finalize
 *
 * Compiles for plain MPI, too.
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

static void check(int rc, const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (rc == MPI_SUCCESS)
        return;
    MPI_Error_string(rc, text, &length);
    printf("%s: %s\n", call, text);
}

static void use(void)
{
    MPI_Session s;
    MPI_Group g;
    MPI_Comm c;
    int rank, size, sum = 0;
    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), "MPI_Session_init");
    check(MPI_Group_from_session_pset(s, "mpi://WORLD", &g), "MPI_Group_from_session_pset");
    check(MPI_Comm_create_from_group(g, "org.example.sessions", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), "MPI_Comm_create_from_group");
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    check(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c), "MPI_Allreduce");
    printf("rank %d of %d: sum %d\n", rank, size, sum);
    fflush(stdout);
    MPI_Group_free(&g);
    MPI_Comm_free(&c);
    check(MPI_Session_finalize(&s), "MPI_Session_finalize");
}

static void step(const char *what, MPI_Session *kept)
{
    if (strcmp(what, "use") == 0)
        use();
    if (strcmp(what, "keep") == 0)
        check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, kept), "MPI_Session_init");
    if (strcmp(what, "close") == 0)
        check(MPI_Session_finalize(kept), "MPI_Session_finalize");
    if (strcmp(what, "init") == 0)
        MPI_Init(NULL, NULL);
    if (strcmp(what, "finalize") == 0)
        MPI_Finalize();
}

int main(int argc, char **argv)
{
#ifdef TPSL
#pragma omp parallel
#endif
    {
        MPI_Session kept = MPI_SESSION_NULL;
        for (int i = 1; i < argc; i++)
            step(argv[i], &kept);
    }
    return 0;
}
