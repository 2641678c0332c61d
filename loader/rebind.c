// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The rebind table: names that a private object gets from us instead of from
 * libc. Objects placed once get those that know private objects; what they do to the
 * process (maps, threads, signals), they do to the process.
 */
#include "loader.h"

#include <stdlib.h>
#include <string.h>

static char *overlay(const char *name)
{
    size_t n = strlen(name);
    for (char **e = tpsl_current ? tpsl_current->environment : NULL; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

char *tpsl_getenv(const char *name)
{
    char *own = overlay(name);
    return own ? own : getenv(name);
}

static char *secure_getenv_overlaid(const char *name)
{
    char *own = overlay(name);
    return own ? own : secure_getenv(name);
}

#define BOTH (TPSL_REBIND_PRIVATE | TPSL_REBIND_ONCE)

const struct tpsl_rebinding tpsl_rebindings[] = {
    {"__tls_get_addr", tpsl_tls_get_addr, BOTH},
    {"__cxa_atexit", tpsl_cxa_atexit, BOTH},
    {"__cxa_finalize", tpsl_cxa_finalize, BOTH},
    {"dlopen", tpsl_dlopen, BOTH},
    {"dlclose", tpsl_dlclose, BOTH},
    {"dlsym", tpsl_dlsym, BOTH},
    {"dlvsym", tpsl_dlvsym, BOTH},
    {"dlerror", tpsl_dlerror, BOTH},
    {"dladdr", tpsl_dladdr, BOTH},
    {"dlinfo", tpsl_dlinfo, BOTH},
    {"_dl_find_object", _dl_find_object, BOTH},
    {"dl_iterate_phdr", tpsl_host_iterate_phdr, BOTH},
    {"getenv", tpsl_getenv, BOTH},
    {"secure_getenv", secure_getenv_overlaid, BOTH},
    {"pthread_create", tpsl_pthread_create, TPSL_REBIND_PRIVATE},
    {"sigaction", tpsl_sigaction, TPSL_REBIND_PRIVATE},
    {"signal", tpsl_signal, TPSL_REBIND_PRIVATE},
    {"mmap", tpsl_mmap, TPSL_REBIND_PRIVATE},
    {"mmap64", tpsl_mmap, TPSL_REBIND_PRIVATE},
    {"munmap", tpsl_munmap, TPSL_REBIND_PRIVATE},
    {"shmat", tpsl_shmat, TPSL_REBIND_PRIVATE},
    {"shmdt", tpsl_shmdt, TPSL_REBIND_PRIVATE},
    {"fcntl", tpsl_fcntl, TPSL_REBIND_PRIVATE},
    {"fcntl64", tpsl_fcntl, TPSL_REBIND_PRIVATE},
    {"umask", tpsl_umask, TPSL_REBIND_PRIVATE},
    {"process_vm_readv", tpsl_process_vm_readv, TPSL_REBIND_PRIVATE},
    {"process_vm_writev", tpsl_process_vm_writev, TPSL_REBIND_PRIVATE},
};
const size_t tpsl_nrebindings = sizeof tpsl_rebindings / sizeof *tpsl_rebindings;
