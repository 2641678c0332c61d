/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Work for netCDF-C, which keeps its open files in one list without a lock: two threads
 * that create files at once get each other's, or crash.
 *
 *     gcc -shared -fPIC netcdf.c -o libwork.so -lnetcdf
 */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 64 };

static void check(int status)
{
    if (status == NC_NOERR)
        return;
    fprintf(stderr, "netCDF: %s\n", nc_strerror(status));
    exit(1);
}

/* Writes a file, in memory, and returns the sum of what is read from it. */
static long through_a_file(const char *name, long seed, long round)
{
    int file, dimension, variable;
    double out[N], in[N], sum = 0;
    check(nc_create(name, NC_CLOBBER | NC_DISKLESS, &file));
    check(nc_def_dim(file, "x", N, &dimension));
    check(nc_def_var(file, "v", NC_DOUBLE, 1, &dimension, &variable));
    check(nc_enddef(file));
    for (int i = 0; i < N; i++)
        out[i] = (double)(seed * 1000 + round * 10 + i);
    check(nc_put_var_double(file, variable, out));
    check(nc_get_var_double(file, variable, in));
    check(nc_close(file));
    for (int i = 0; i < N; i++)
        sum += in[i];
    return (long)sum;
}

long work(long seed)
{
    char name[64];
    long sum = 0;
    snprintf(name, sizeof name, "seed%ld.nc", seed);
    for (long round = 0; round < 500; round++)
        sum = sum * 31 + through_a_file(name, seed, round);
    return sum & 0x7fffffffffff;
}
