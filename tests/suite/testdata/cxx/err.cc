// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Errors: returned, handled, turned into exceptions by the program, named.

#include "check.h"

#include <cstring>
#include <stdexcept>

// What the handlers of a thread have seen.
static thread_local int handled, last;

static void on_comm(MPI_Comm *, int *code, ...)
{
    handled++;
    MPI_Error_class(*code, &last);
}

static void on_file(MPI_File *, int *code, ...)
{
    handled++;
    MPI_Error_class(*code, &last);
}

static void check(int code)
{
    if (code == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    throw std::runtime_error(text);
}

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    int x = 0, error, length;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    const int rc = MPI_Send(&x, 1, MPI_INT, c.ranks + 5, 0, MPI_COMM_WORLD);
    MPI_Error_class(rc, &error);
    c.expect(handled == 1 && last == MPI_ERR_RANK && error == MPI_ERR_RANK, "rank");
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Send(&x, -1, MPI_INT, 0, 0, dup);
    c.expect(last == MPI_ERR_COUNT, "inherited by the duplicate");

    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    std::string thrown;
    try {
        check(MPI_Send(&x, 1, MPI_INT, 0, -12345, dup));
    } catch (const std::runtime_error &e) {
        thrown = e.what();
    }
    c.expect(thrown.find("tag") != std::string::npos, "exception");
    MPI_Comm_free(&dup);

    int requests_class;
    MPI_Request request[2];
    MPI_Status status[2];
    char small[4], large[8] = "1234567";
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(small, 4, MPI_CHAR, c.left(), 3, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(large, 8, MPI_CHAR, c.right(), 3, MPI_COMM_WORLD, &request[1]);
    MPI_Error_class(MPI_Waitall(2, request, status), &error);
    MPI_Error_class(status[0].MPI_ERROR, &requests_class);
    c.expect(error == MPI_ERR_IN_STATUS && requests_class == MPI_ERR_TRUNCATE, "truncated");

    MPI_File fh;
    const std::string nowhere = std::string(argv[1]) + ".not.there";
    MPI_Error_class(MPI_File_open(MPI_COMM_SELF, nowhere.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), &error);
    c.expect(error == MPI_ERR_NO_SUCH_FILE, "no such file");
    MPI_File_create_errhandler(on_file, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    handled = 0;
    MPI_File_open(MPI_COMM_SELF, nowhere.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    c.expect(handled == 1, "handler of files");

    char text[MPI_MAX_ERROR_STRING];
    int fresh, code, *used, flag;
    MPI_Add_error_class(&fresh);
    MPI_Add_error_code(fresh, &code);
    MPI_Add_error_string(code, "the cat is on it");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &used, &flag);
    MPI_Error_class(code, &error);
    MPI_Error_string(code, text, &length);
    c.expect(error == fresh && flag && *used >= fresh && strcmp(text, "the cat is on it") == 0, "new error");
    c.digest = length;
    return c.finish("cxx/err");
}
