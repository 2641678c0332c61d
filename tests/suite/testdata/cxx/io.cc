// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Files: records appended in turn through the shared pointer, a view of structures, data
// sieving of ranks that write between each other's bytes at the same time.

#include "check.h"

#include <set>

static void records(Check &c, const char *name)
{
    MPI_File fh;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    const int each = 20;
    for (int i = 0; i < each; i++) {
        int record[2] = {c.rank, i};
        MPI_File_write_shared(fh, record, 2, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Offset size;
    MPI_File_get_size(fh, &size);
    c.expect(size == static_cast<MPI_Offset>(each * c.ranks * 2 * sizeof(int)), "size");
    std::vector<int> all(2 * each * c.ranks);
    MPI_File_read_at_all(fh, 0, all.data(), static_cast<int>(all.size()), MPI_INT, MPI_STATUS_IGNORE);
    std::set<std::pair<int, int>> different;
    for (size_t i = 0; i < all.size(); i += 2)
        different.insert({all[i], all[i + 1]});
    c.expect(different.size() == static_cast<size_t>(each * c.ranks), "every record once");
    // In the order of ranks, as the file is compared.
    MPI_File_seek_shared(fh, 0, MPI_SEEK_SET);
    std::vector<int> mine(2 * each, c.rank);
    MPI_File_write_ordered(fh, mine.data(), 2 * each, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&fh);
    c.digest += size;
}

// Each writes every n-th byte, many times, without a collective call.
static void sieve(Check &c, const char *name)
{
    const int n = 1000;
    MPI_File fh;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", "enable");
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &fh);
    MPI_Info_free(&info);
    MPI_Datatype hole, view;
    MPI_Type_create_resized(MPI_CHAR, 0, c.ranks, &hole);
    MPI_Type_contiguous(1, hole, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(fh, 4096 + c.rank, MPI_CHAR, view, "native", MPI_INFO_NULL);
    std::string text(n, static_cast<char>('a' + c.rank)), got(n, ' ');
    for (int i = 0; i < 10; i++)
        MPI_File_write_at(fh, 0, text.data(), n, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(fh, 0, &got[0], n, MPI_CHAR, MPI_STATUS_IGNORE);
    c.expect(got == text, "bytes between others'");
    MPI_File_close(&fh);
    MPI_Type_free(&hole);
    MPI_Type_free(&view);
}

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    records(c, argv[1]);
    sieve(c, argv[1]);

    MPI_File fh;
    const int rc = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    int error;
    MPI_Error_class(rc, &error);
    c.expect(error == MPI_ERR_FILE_EXISTS, "exists");
    const std::string other = std::string(argv[1]) + ".other";
    MPI_File_open(MPI_COMM_SELF, (other + std::to_string(c.rank)).c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &fh);
    MPI_File_write(fh, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&fh);
    c.expect(fopen((other + std::to_string(c.rank)).c_str(), "r") == nullptr, "deleted");
    return c.finish("cxx/io");
}
