// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Attributes: objects of the program that follow communicators, datatypes and windows;
// what the library attaches itself.

#include "check.h"

struct Counts {
    int copies = 0, deletes = 0;
};

static int copy(MPI_Comm, int, void *extra, void *value, void *copied, int *flag)
{
    static_cast<Counts *>(extra)->copies++;
    *static_cast<void **>(copied) = new int(*static_cast<int *>(value) + 1);
    *flag = 1;
    return MPI_SUCCESS;
}

static int forget(MPI_Comm, int, void *value, void *extra)
{
    static_cast<Counts *>(extra)->deletes++;
    delete static_cast<int *>(value);
    return MPI_SUCCESS;
}

static int forget_type(MPI_Datatype, int, void *, void *extra)
{
    static_cast<Counts *>(extra)->deletes++;
    return MPI_SUCCESS;
}

static int value_of(MPI_Comm comm, int key)
{
    int *p, flag;
    MPI_Comm_get_attr(comm, key, &p, &flag);
    return flag ? *p : -1;
}

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    Counts counts;
    int key;
    MPI_Comm_create_keyval(copy, forget, &key, &counts);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, new int(10 * c.rank));
    MPI_Comm one, two;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(one, &two);
    c.expect(value_of(one, key) == 10 * c.rank + 1 && value_of(two, key) == 10 * c.rank + 2, "copied");
    MPI_Comm_free(&one);
    MPI_Comm_set_attr(two, key, new int(5));
    c.expect(counts.copies == 2 && counts.deletes == 2, "replaced");
    MPI_Comm_free(&two);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    c.expect(counts.deletes == 4 && value_of(MPI_COMM_WORLD, key) == -1, "deleted");
    MPI_Comm_free_keyval(&key);
    c.expect(key == MPI_KEYVAL_INVALID, "free");

    int type_key;
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, forget_type, &type_key, &counts);
    MPI_Datatype type, dup;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, type_key, &counts);
    MPI_Type_dup(type, &dup);
    void *p;
    int flag;
    MPI_Type_get_attr(dup, type_key, &p, &flag);
    c.expect(flag && p == &counts, "of a datatype");
    MPI_Type_free(&type);
    MPI_Type_free(&dup);
    MPI_Type_free_keyval(&type_key);
    c.expect(counts.deletes == 6, "deleted with the datatypes");

    alignas(16) int memory[4]; // MPICH 4.0.2 tells the base rounded down to 16 bytes
    int *number;
    void *base;
    MPI_Aint *size;
    MPI_Win win;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    c.expect(flag && base == memory, "MPI_WIN_BASE");
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    c.expect(flag && *size == sizeof memory, "MPI_WIN_SIZE");
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag);
    c.expect(flag && (*number == MPI_WIN_UNIFIED || *number == MPI_WIN_SEPARATE), "MPI_WIN_MODEL");
    MPI_Win_free(&win);

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag);
    c.expect(flag && *number >= 32767, "MPI_TAG_UB");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    c.expect(flag && *number == 0, "MPI_APPNUM");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &number, &flag);
    c.expect(!flag || *number == -1 || *number >= c.ranks, "MPI_UNIVERSE_SIZE");
    return c.finish("cxx/attr");
}
