/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * prototypes: what tpsl.h has declared so far. libtpsl.so.0 promises it: lines are
 * added, none is changed. See docs/abi.md.
 */
#include <tpsl.h>

#define IS(function, ...) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(function)), __VA_ARGS__), #function " has another prototype")

IS(TPSL_Init, int (*)(int));
IS(TPSL_MPI_Init, int (*)(int *, char ***, int));
IS(TPSL_Local_size, int (*)(void));
IS(TPSL_Slot, int (*)(void));
IS(TPSL_Rank_of, int (*)(int));
IS(TPSL_Same_process, int (*)(int));
IS(TPSL_Switch, int (*)(int));
IS(TPSL_Adopt, int (*)(int));
IS(TPSL_Symbol, void *(*)(int, const char *));
IS(TPSL_Run, int (*)(int, int (*)(void *), void *, const struct TPSL_Options *));
IS(TPSL_Dlopen, void *(*)(const char *));
IS(TPSL_Dlsym, void *(*)(void *, const char *));
IS(TPSL_Dlclose, int (*)(void *));
IS(TPSL_Dlerror, char *(*)(void));

/* Members of TPSL_Options stay where they are; others may follow. */
#define AT(member, offset) _Static_assert(offsetof(struct TPSL_Options, member) == (offset), #member " has moved")
AT(size, 0);
AT(thread_level, 8);
AT(caller, 12);
AT(stack, 16);
AT(cpus, 24);
