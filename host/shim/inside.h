/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * For functions that call libc's function of the same name, and count the thread as inside meanwhile.
 */
#ifndef TPSL_INSIDE_H
#define TPSL_INSIDE_H

#include "shim.h"

#define AS_LIBC(type, name, parameters, ...)                              \
    type(name) parameters                                                 \
    {                                                                     \
        TPSL_INSIDE;                                                      \
        return BEHIND(name)(__VA_ARGS__);                                 \
    }
#define AS_LIBC_DOES(name, parameters, ...)                               \
    void(name) parameters                                                 \
    {                                                                     \
        TPSL_INSIDE;                                                      \
        BEHIND(name)(__VA_ARGS__);                                        \
    }

#endif
