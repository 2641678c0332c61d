// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Reductions of numbers. Pairs, complex numbers, logicals, long double and operations of the program are left to the MPI
 * library: programs rarely reduce much of them.
 */
#include "fold.h"

#include <stdint.h>

/* Predefined operations of MPICH's mpi.h, which count from 0x58000001 in this order. */
enum { MAX, MIN, SUM, PROD, LAND, BAND, LOR, BOR, LXOR, BXOR, NOPERATIONS, FIRST_OPERATION = 0x58000001 };

#define FOLD(name, type, expression)                                   \
    static void name(void *to, const void *a, const void *b, size_t n) \
    {                                                                  \
        type *t = to;                                                  \
        const type *p = a, *q = b;                                     \
        for (size_t i = 0; i < n; i++) {                               \
            type x = p[i], y = q[i];                                   \
            t[i] = (type)(expression);                                 \
        }                                                              \
    }

#define ARITHMETIC(type)               \
    FOLD(max_##type, type, x < y ? y : x) \
    FOLD(min_##type, type, y < x ? y : x) \
    FOLD(sum_##type, type, x + y)      \
    FOLD(prod_##type, type, x * y)

#define BITS(type)                  \
    FOLD(band_##type, type, x & y)  \
    FOLD(bor_##type, type, x | y)   \
    FOLD(bxor_##type, type, x ^ y)

#define LOGIC(type)                     \
    FOLD(land_##type, type, x && y)     \
    FOLD(lor_##type, type, x || y)      \
    FOLD(lxor_##type, type, !x != !y)

#define FLOATING_POINT(type)                                                          \
    ARITHMETIC(type)                                                                  \
    static tpsl_fold *const type##_folds[NOPERATIONS] = {                             \
        [MAX] = max_##type, [MIN] = min_##type, [SUM] = sum_##type, [PROD] = prod_##type, \
    };

#define INTEGER(type)                                                                                                        \
    ARITHMETIC(type) BITS(type) LOGIC(type)                                                                                  \
    static tpsl_fold *const type##_folds[NOPERATIONS] = {                                                                    \
        [MAX] = max_##type, [MIN] = min_##type, [SUM] = sum_##type, [PROD] = prod_##type, [LAND] = land_##type,              \
        [BAND] = band_##type, [LOR] = lor_##type, [BOR] = bor_##type, [LXOR] = lxor_##type, [BXOR] = bxor_##type,            \
    };

INTEGER(int32_t)
INTEGER(uint32_t)
INTEGER(int64_t)
INTEGER(uint64_t)
FLOATING_POINT(float)
FLOATING_POINT(double)
BITS(uint8_t)
static tpsl_fold *const byte_folds[NOPERATIONS] = {[BAND] = band_uint8_t, [BOR] = bor_uint8_t, [BXOR] = bxor_uint8_t};

/* Handles of MPICH's mpi.h. */
static tpsl_fold *const *folds_of(int type)
{
    switch (type) {
    case 0x4c000405: /* MPI_INT */
    case 0x4c000439: /* MPI_INT32_T */
    case 0x4c00041b: /* MPI_INTEGER */
        return int32_t_folds;
    case 0x4c000406: /* MPI_UNSIGNED */
    case 0x4c00043d: /* MPI_UINT32_T */
        return uint32_t_folds;
    case 0x4c000807: /* MPI_LONG */
    case 0x4c000809: /* MPI_LONG_LONG_INT */
    case 0x4c00083a: /* MPI_INT64_T */
        return int64_t_folds;
    case 0x4c000808: /* MPI_UNSIGNED_LONG */
    case 0x4c000819: /* MPI_UNSIGNED_LONG_LONG */
    case 0x4c00083e: /* MPI_UINT64_T */
        return uint64_t_folds;
    case 0x4c00040a: /* MPI_FLOAT */
    case 0x4c00041c: /* MPI_REAL */
        return float_folds;
    case 0x4c00080b: /* MPI_DOUBLE */
    case 0x4c00081f: /* MPI_DOUBLE_PRECISION */
        return double_folds;
    case 0x4c00010d: /* MPI_BYTE */
        return byte_folds;
    default:
        return NULL;
    }
}

tpsl_fold *tpsl_fold_of(int op, int type)
{
    tpsl_fold *const *folds = folds_of(type);
    unsigned int i = (unsigned int)op - FIRST_OPERATION;
    return folds && i < NOPERATIONS ? folds[i] : NULL;
}
