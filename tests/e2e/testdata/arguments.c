/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * arguments NAMES OFFSET: whatever name of MPI is called, and however, the rank's
 * function gets the arguments and the caller gets what it returns.
 *
 * NAMES is tpsl/names/mpich.names, OFFSET that of tpsl_self in libtpsl's TLS segment. For the
 * time of the calls every function of the rank is one of those below. Under TPSL_CHECK=1
 * the rank's own functions stand behind the entries of its table.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>

#include "endpoint.h"
#include "names.h"
#include "znames.h"

#define SIX 1L, 2L, 3L, 4L, 5L, 6L
#define VECTORS 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5
#define STACK 7L, 8L, 9L, 10L, 11L, 12L, 13L, 14L, 15L, 16L, 17L, 18L, 19L, 20L, 21L, 22L
enum { STUB_RESULT = 1234567 };

typedef long function(long, long, long, long, long, long, double, double, double, double, double, double, double, double, /* in registers */
                      long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long);

static bool arrived;

static long in_their_places(long a, long b, long c, long d, long e, long f, double s, double t, double u, double v, double w, double x, double y, double z,
                            long g, long h, long i, long j, long k, long l, long m, long n, long o, long p, long q, long r, long aa, long bb, long cc, long dd)
{
    const long have[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, aa, bb, cc, dd}, want[] = {SIX, STACK};
    const double vectors[] = {s, t, u, v, w, x, y, z}, wanted[] = {VECTORS};
    arrived = memcmp(have, want, sizeof want) == 0 && memcmp(vectors, wanted, sizeof wanted) == 0;
    return STUB_RESULT;
}

/* MPI_Pcontrol's kind: finds vector arguments only when %al counts them. */
static double variadic(int first, ...)
{
    const double wanted[] = {VECTORS};
    const long want[] = {2, 3, 4, 5, 6, 7, 8};
    arrived = first == 1;
    va_list more;
    va_start(more, first);
    for (int i = 0; i < 8; i++)
        arrived &= va_arg(more, double) == wanted[i];
    for (int i = 0; i < 7; i++)
        arrived &= va_arg(more, long) == want[i];
    va_end(more);
    return 0.25;
}

static void replace_all(void **table, void *f)
{
    for (int i = 0; i < stubs; i++)
        table[i] = f;
}

static void *saved[MAX]; /* the rank's functions */

static int call_every_name(void **table)
{
    int wrong = 0;
    for (int i = 0; i < names; i++) {
        if (stub[i] == TPSL_STUB_MPI_Init || stub[i] == TPSL_STUB_MPI_Init_thread || stub[i] == TPSL_STUB_MPI_Finalize || stub[i] == TPSL_STUB_MPI_Session_init)
            continue; /* the runtime's own */
        if (getenv("TPSL_CHECK") && !saved[stub[i]])
            continue; /* the library lacks it, and calls are not passed on */
        void *f = dlsym(RTLD_DEFAULT, name[i]);
        arrived = false;
        replace_all(table, in_their_places);
        bool right = ((function *)f)(SIX, VECTORS, STACK) == STUB_RESULT && arrived;
        arrived = false;
        replace_all(table, variadic);
        right &= ((double (*)(int, ...))f)(1, VECTORS, 2L, 3L, 4L, 5L, 6L, 7L, 8L) == 0.25 && arrived;
        if (!right && wrong++ < 5)
            printf("%s does not pass on what it gets\n", name[i]);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    read_names(argv[1]);
    MPI_Init(&argc, &argv);
    double before = MPI_Wtime();
    struct tpsl_endpoint *ep = *(struct tpsl_endpoint **)thread_local_at(strtoul(argv[2], NULL, 0));
    void **own = ep->table + (getenv("TPSL_CHECK") ? TPSL_NSTUBS : 0);
    memcpy(saved, own, (size_t)stubs * sizeof *saved);
    int wrong = call_every_name(own);
    memcpy(own, saved, (size_t)stubs * sizeof *saved);
    double time = MPI_Wtime() - before;
    printf("%d names, %d wrong, %s\n", names, wrong, time > 0 && time < 60 ? "the clock goes on" : "the clock is wrong");
    MPI_Finalize();
    return wrong != 0;
}
