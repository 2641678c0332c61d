// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The start of a rank's program. */
#include <unistd.h>

#include "shim.h"

/* The shim is the first object that is started, so all others find their environment and
 * streams. */
__attribute__((constructor)) static void begin(int argc, char **argv, char **envp)
{
    environ = envp;
    tpsl_streams_open();
}

/* _start of every program calls this function. The loader has run the constructors already, also
 * those that `init` of programs linked before glibc 2.34 would run. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    tpsl_first_thread(main, argc, argv);
}
