// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Reductions of elements of predefined types. The MPI library keeps operations of the program, and the types of 16 bytes that Fortran
 * compilers do not agree about (MPI_REAL16, MPI_COMPLEX32).
 */
#include "fold.h"

#include <complex.h>
#include <stdint.h>

/* Predefined operations of MPICH's mpi.h, which count from 0x58000001 in this order. */
enum { MAX, MIN, SUM, PROD, LAND, BAND, LOR, BOR, LXOR, BXOR, MINLOC, MAXLOC, NOPERATIONS, FIRST_OPERATION = 0x58000001 };

#define FOLD(name, type, expression)                                   \
    static void name(void *to, const void *a, const void *b, size_t n) \
    {                                                                  \
        type *t = to;                                                  \
        const type *p = a, *q = b;                                     \
        for (size_t i = 0; i < n; i++) {                               \
            type x = p[i], y = q[i];                                   \
            t[i] = (expression);                                       \
        }                                                              \
    }

#define ORDER(type)                       \
    FOLD(max_##type, type, x < y ? y : x) \
    FOLD(min_##type, type, y < x ? y : x)

#define ARITHMETIC(type)                    \
    FOLD(sum_##type, type, (type)(x + y))   \
    FOLD(prod_##type, type, (type)(x * y))

#define BITS(type)                           \
    FOLD(band_##type, type, (type)(x & y))   \
    FOLD(bor_##type, type, (type)(x | y))    \
    FOLD(bxor_##type, type, (type)(x ^ y))

/* Their result is 0 or 1. */
#define LOGIC(type)                     \
    FOLD(land_##type, type, x && y)     \
    FOLD(lor_##type, type, x || y)      \
    FOLD(lxor_##type, type, !x != !y)

#define FOLDS(type) static tpsl_fold *const type##_folds[NOPERATIONS]
#define ORDER_FOLDS(type) [MAX] = max_##type, [MIN] = min_##type
#define ARITHMETIC_FOLDS(type) [SUM] = sum_##type, [PROD] = prod_##type
#define BITS_FOLDS(type) [BAND] = band_##type, [BOR] = bor_##type, [BXOR] = bxor_##type
#define LOGIC_FOLDS(type) [LAND] = land_##type, [LOR] = lor_##type, [LXOR] = lxor_##type

#define INTEGER(type)                                   \
    ORDER(type) ARITHMETIC(type) BITS(type) LOGIC(type) \
    FOLDS(type) = {ORDER_FOLDS(type), ARITHMETIC_FOLDS(type), BITS_FOLDS(type), LOGIC_FOLDS(type)};
#define FLOATING_POINT(type)     \
    ORDER(type) ARITHMETIC(type) \
    FOLDS(type) = {ORDER_FOLDS(type), ARITHMETIC_FOLDS(type)};
#define COMPLEX(type) \
    ARITHMETIC(type)  \
    FOLDS(type) = {ARITHMETIC_FOLDS(type)};

/* A value and where it is. Of two equal values the first place counts. */
#define PAIR(type, number, number_of_place)                                                           \
    typedef struct {                                                                                  \
        number value;                                                                                 \
        number_of_place place;                                                                        \
    } type;                                                                                           \
    FOLD(minloc_##type, type, x.value < y.value || (x.value == y.value && x.place < y.place) ? x : y) \
    FOLD(maxloc_##type, type, x.value > y.value || (x.value == y.value && x.place < y.place) ? x : y) \
    FOLDS(type) = {[MINLOC] = minloc_##type, [MAXLOC] = maxloc_##type};

typedef long double long_double;
typedef float complex float_complex;
typedef double complex double_complex;
typedef long double complex long_double_complex;
typedef uint8_t byte;
typedef uint8_t boolean; /* of C and C++ */
typedef int32_t logical; /* of Fortran */

INTEGER(int8_t)
INTEGER(uint8_t)
INTEGER(int16_t)
INTEGER(uint16_t)
INTEGER(int32_t)
INTEGER(uint32_t)
INTEGER(int64_t)
INTEGER(uint64_t)
FLOATING_POINT(float)
FLOATING_POINT(double)
FLOATING_POINT(long_double)
COMPLEX(float_complex)
COMPLEX(double_complex)
COMPLEX(long_double_complex)
PAIR(int_int, int, int)
PAIR(short_int, short, int)
PAIR(long_int, long, int)
PAIR(float_int, float, int)
PAIR(double_int, double, int)
PAIR(long_double_int, long double, int)
PAIR(two_floats, float, float)
PAIR(two_doubles, double, double)

BITS(byte)
FOLDS(byte) = {BITS_FOLDS(byte)};
LOGIC(boolean)
FOLDS(boolean) = {LOGIC_FOLDS(boolean)};
LOGIC(logical)
FOLDS(logical) = {LOGIC_FOLDS(logical)};

#define TYPE(folds)            \
    *width = sizeof(folds);    \
    return folds##_folds

/* Handles of MPICH's mpi.h. NULL: none of them. */
static tpsl_fold *const *folds_of(int type, size_t *width)
{
    switch ((unsigned int)type) {
    case 0x4c000118: /* MPI_SIGNED_CHAR */
    case 0x4c000137: /* MPI_INT8_T */
    case 0x4c00012d: /* MPI_INTEGER1 */
        TYPE(int8_t);
    case 0x4c000102: /* MPI_UNSIGNED_CHAR */
    case 0x4c00013b: /* MPI_UINT8_T */
        TYPE(uint8_t);
    case 0x4c000203: /* MPI_SHORT */
    case 0x4c000238: /* MPI_INT16_T */
    case 0x4c00022f: /* MPI_INTEGER2 */
        TYPE(int16_t);
    case 0x4c000204: /* MPI_UNSIGNED_SHORT */
    case 0x4c00023c: /* MPI_UINT16_T */
        TYPE(uint16_t);
    case 0x4c000405: /* MPI_INT */
    case 0x4c000439: /* MPI_INT32_T */
    case 0x4c00041b: /* MPI_INTEGER */
    case 0x4c000430: /* MPI_INTEGER4 */
        TYPE(int32_t);
    case 0x4c000406: /* MPI_UNSIGNED */
    case 0x4c00043d: /* MPI_UINT32_T */
        TYPE(uint32_t);
    case 0x4c000807: /* MPI_LONG */
    case 0x4c000809: /* MPI_LONG_LONG_INT */
    case 0x4c00083a: /* MPI_INT64_T */
    case 0x4c000831: /* MPI_INTEGER8 */
    case 0x4c000843: /* MPI_AINT */
    case 0x4c000844: /* MPI_OFFSET */
    case 0x4c000845: /* MPI_COUNT */
        TYPE(int64_t);
    case 0x4c000808: /* MPI_UNSIGNED_LONG */
    case 0x4c000819: /* MPI_UNSIGNED_LONG_LONG */
    case 0x4c00083e: /* MPI_UINT64_T */
        TYPE(uint64_t);
    case 0x4c00040a: /* MPI_FLOAT */
    case 0x4c00041c: /* MPI_REAL */
    case 0x4c000427: /* MPI_REAL4 */
        TYPE(float);
    case 0x4c00080b: /* MPI_DOUBLE */
    case 0x4c00081f: /* MPI_DOUBLE_PRECISION */
    case 0x4c000829: /* MPI_REAL8 */
        TYPE(double);
    case 0x4c00100c: /* MPI_LONG_DOUBLE */
        TYPE(long_double);
    case 0x4c000840: /* MPI_C_FLOAT_COMPLEX */
    case 0x4c00081e: /* MPI_COMPLEX */
    case 0x4c000828: /* MPI_COMPLEX8 */
    case 0x4c000834: /* MPI_CXX_FLOAT_COMPLEX */
        TYPE(float_complex);
    case 0x4c001041: /* MPI_C_DOUBLE_COMPLEX */
    case 0x4c001022: /* MPI_DOUBLE_COMPLEX */
    case 0x4c00102a: /* MPI_COMPLEX16 */
    case 0x4c001035: /* MPI_CXX_DOUBLE_COMPLEX */
        TYPE(double_complex);
    case 0x4c002042: /* MPI_C_LONG_DOUBLE_COMPLEX */
    case 0x4c002036: /* MPI_CXX_LONG_DOUBLE_COMPLEX */
        TYPE(long_double_complex);
    case 0x4c00010d: /* MPI_BYTE */
        TYPE(byte);
    case 0x4c00013f: /* MPI_C_BOOL */
    case 0x4c000133: /* MPI_CXX_BOOL */
        TYPE(boolean);
    case 0x4c00041d: /* MPI_LOGICAL */
        TYPE(logical);
    case 0x4c000816: /* MPI_2INT */
    case 0x4c000820: /* MPI_2INTEGER */
        TYPE(int_int);
    case 0x8c000003: /* MPI_SHORT_INT */
        TYPE(short_int);
    case 0x8c000002: /* MPI_LONG_INT */
        TYPE(long_int);
    case 0x8c000000: /* MPI_FLOAT_INT */
        TYPE(float_int);
    case 0x8c000001: /* MPI_DOUBLE_INT */
        TYPE(double_int);
    case 0x8c000004: /* MPI_LONG_DOUBLE_INT */
        TYPE(long_double_int);
    case 0x4c000821: /* MPI_2REAL */
        TYPE(two_floats);
    case 0x4c001023: /* MPI_2DOUBLE_PRECISION */
        TYPE(two_doubles);
    default:
        return NULL;
    }
}

tpsl_fold *tpsl_fold_of(int op, int type, size_t *width)
{
    tpsl_fold *const *folds = folds_of(type, width);
    unsigned int i = (unsigned int)op - FIRST_OPERATION;
    return folds && i < NOPERATIONS ? folds[i] : NULL;
}
