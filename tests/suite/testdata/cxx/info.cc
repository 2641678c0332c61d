// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Info objects, the library's own variables, sessions, memory, refused spawns.

#include "check.h"

#include <cstring>

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    int n, flag;
    MPI_Info_create(&info);
    for (int i = 0; i < 20; i++)
        MPI_Info_set(info, ("key" + std::to_string(i)).c_str(), std::to_string(i * c.rank).c_str());
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "key7");
    MPI_Info_get_nkeys(info, &n);
    c.expect(n == 19, "delete");
    MPI_Info_get_nkeys(copy, &n);
    for (int i = 0; i < n; i++) {
        MPI_Info_get_nthkey(copy, i, key);
        MPI_Info_get(copy, key, MPI_MAX_INFO_VAL, value, &flag);
        c.digest += flag ? std::stol(value) : -1;
    }
    c.expect(c.digest == 190L * c.rank, "values");
    n = 4;
    MPI_Info_get_string(copy, "key19", &n, value, &flag);
    c.expect(flag && n == static_cast<int>(std::to_string(19 * c.rank).size()) + 1, "get_string");
    MPI_Info_free(&info);
    MPI_Info_free(&copy);

    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int version, subversion;
    MPI_Get_version(&version, &subversion);
    c.expect(version == MPI_VERSION && subversion == MPI_SUBVERSION, "version");
    MPI_Get_library_version(text, &n);
    c.expect(static_cast<int>(strlen(text)) == n && (strncmp(text, "MPICH", 5) == 0 || strncmp(text, "Open MPI", 8) == 0), "library version");
    MPI_Get_processor_name(text, &n);
    c.expect(n > 0, "processor name");
    const double begun = MPI_Wtime();
    while (MPI_Wtime() == begun) {
    }
    c.expect(MPI_Wtime() > begun && MPI_Wtick() > 0, "clock");
    c.expect(PMPI_Comm_size(MPI_COMM_WORLD, &n) == MPI_SUCCESS && n == c.ranks, "profiling name");

    // The tool interface: every rank has variables of its own.
    int provided, variables;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&variables);
    c.expect(variables > 100, "variables");
    MPI_T_finalize();

    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tpsl.suite", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Allreduce(&c.rank, &n, 1, MPI_INT, MPI_SUM, comm);
    c.expect(n == c.ranks * (c.ranks - 1) / 2, "session");
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);

    long *memory;
    MPI_Alloc_mem(100 * sizeof(long), MPI_INFO_NULL, &memory);
    memory[99] = c.rank;
    c.expect(memory[99] == c.rank && MPI_Free_mem(memory) == MPI_SUCCESS, "memory");

    MPI_Comm children;
    int error;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_spawn("nobody", MPI_ARGV_NULL, 1, MPI_INFO_NULL, -7, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE), &error);
    c.expect(error == MPI_ERR_ROOT, "spawn");
    MPI_Comm_get_parent(&children);
    c.expect(children == MPI_COMM_NULL, "no parent");
    return c.finish("cxx/info");
}
