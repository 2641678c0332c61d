// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* lib/tpsl/python: a CPython that is position-independent, in place of one that is not. It is main and nothing else: the interpreter is
 * in the libpython that TPSL_PYTHON names. Extension modules are not linked with that, so its symbols are for all.
 *
 * CPython finds its own file, and with it sys.executable, sys.prefix and sys.path, by argument 0 and PATH. Argument 0 is what the
 * interpreter in whose place this is would have got. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *why)
{
    fprintf(stderr, "tpsl: run Python: %s\n", why);
    return 255;
}

int main(int argc, char **argv)
{
    const char *file = getenv("TPSL_PYTHON");
    if (!file)
        return fail("TPSL_PYTHON names no libpython; start python3 by mpiexec or tpsl run");
    void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    unsetenv("TPSL_PYTHON"); /* what Python starts is as without it */
    int (*run)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "Py_BytesMain") : NULL;
    return run ? run(argc, argv) : fail(dlerror());
}
