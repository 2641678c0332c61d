/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * <dlfcn.h> of glibc 2.34: this machine's, without what 2.35 added.
 */
#define dl_find_object dl_find_object_of_this_machine
#define _dl_find_object _dl_find_object_of_this_machine
#include_next <dlfcn.h>
#undef dl_find_object
#undef _dl_find_object
#undef DLFO_STRUCT_HAS_EH_DBASE
