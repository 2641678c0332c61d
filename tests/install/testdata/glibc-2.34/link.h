/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * <link.h> of glibc 2.34: this machine's, without what 2.35 added.
 */
#define r_debug_extended r_debug_extended_of_this_machine
#include_next <link.h>
#undef r_debug_extended
