// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The rebind table: names that a private object gets from us instead of from libc. Objects placed once
 * get only the functions that know private objects. Their threads, maps and signal handlers belong to
 * the process. Instances that are processes of their own have their own environment, signals and file
 * locks from the kernel, so they do not get our functions for these.
 */
#include "dl.h"
#include "libc.h"
#include "thread.h"
#include "tls.h"

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
#define OWN (TPSL_REBIND_PRIVATE | TPSL_REBIND_PROCESS)
#define ALL (BOTH | TPSL_REBIND_PROCESS)

const struct tpsl_rebinding tpsl_rebindings[] = {
    {"__tls_get_addr", tpsl_tls_get_addr, ALL},
    {"__cxa_atexit", tpsl_cxa_atexit, ALL},
    {"__cxa_finalize", tpsl_cxa_finalize, ALL},
    {"__cxa_thread_atexit", tpsl_cxa_thread_atexit, OWN},
    {"__cxa_thread_atexit_impl", tpsl_cxa_thread_atexit, OWN},
    {"dlopen", tpsl_dlopen, ALL},
    {"dlclose", tpsl_dlclose, ALL},
    {"dlsym", tpsl_dlsym, ALL},
    {"dlvsym", tpsl_dlvsym, ALL},
    {"dlerror", tpsl_dlerror, ALL},
    {"dladdr", tpsl_dladdr, ALL},
    {"dladdr1", tpsl_dladdr1, ALL},
    {"dlinfo", tpsl_dlinfo, ALL},
    {"_dl_find_object", _dl_find_object, ALL},
    {"dl_iterate_phdr", tpsl_ldso_iterate_phdr, ALL},
    {"getenv", tpsl_getenv, BOTH},
    {"secure_getenv", secure_getenv_overlaid, BOTH},
    {"pthread_create", tpsl_pthread_create, OWN},
    {"thrd_create", tpsl_thrd_create, OWN},
    {"pthread_key_create", tpsl_key_create, TPSL_REBIND_PRIVATE},
    {"pthread_key_delete", tpsl_key_delete, TPSL_REBIND_PRIVATE},
    {"sigaction", tpsl_sigaction, TPSL_REBIND_PRIVATE},
    {"signal", tpsl_signal, TPSL_REBIND_PRIVATE},
    {"longjmp", tpsl_longjmp, TPSL_REBIND_PRIVATE},
    {"_longjmp", tpsl_longjmp, TPSL_REBIND_PRIVATE},
    {"siglongjmp", tpsl_longjmp, TPSL_REBIND_PRIVATE},
    {"__longjmp_chk", tpsl_longjmp, TPSL_REBIND_PRIVATE},
    {"mmap", tpsl_mmap, OWN},
    {"mmap64", tpsl_mmap, OWN},
    {"munmap", tpsl_munmap, OWN},
    {"shmat", tpsl_shmat, OWN},
    {"shmdt", tpsl_shmdt, OWN},
    {"pthread_spin_lock", tpsl_spin_lock, ALL},
    {"fcntl", tpsl_fcntl, TPSL_REBIND_PRIVATE},
    {"fcntl64", tpsl_fcntl, TPSL_REBIND_PRIVATE},
    {"umask", tpsl_umask, TPSL_REBIND_PRIVATE},
    {"memset", tpsl_memset, TPSL_REBIND_PRIVATE},
    {"process_vm_readv", tpsl_process_vm_readv, OWN},
    {"process_vm_writev", tpsl_process_vm_writev, OWN},
};
const size_t tpsl_nrebindings = sizeof tpsl_rebindings / sizeof *tpsl_rebindings;

void *tpsl_rebound(const char *name, int scope)
{
    for (size_t i = 0; i < tpsl_nrebindings; i++)
        if (tpsl_rebindings[i].scope & scope && strcmp(tpsl_rebindings[i].name, name) == 0)
            return tpsl_rebindings[i].function;
    return NULL;
}
