// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "slices"

// ReboundProcess lists those of a program that each rank has a copy of, a process: its
// environment, signals and locks are its own.
var ReboundProcess = slices.DeleteFunc(slices.Clone(Rebound), func(name string) bool {
	return slices.Contains([]string{"getenv", "secure_getenv", "sigaction", "signal", "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "fcntl", "fcntl64", "umask", "memset", "pthread_key_create", "pthread_key_delete"}, name)
})

// Rebound lists the names that private objects get from the loader: what the table of
// loader/libc.c has, for who looks at plans without cgo.
var Rebound = append(slices.Clone(ReboundOnce),
	"__cxa_thread_atexit", "__cxa_thread_atexit_impl", "pthread_create", "thrd_create", "pthread_key_create", "pthread_key_delete", "sigaction", "signal", "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "mmap", "mmap64", "munmap", "shmat", "shmdt", "fcntl", "fcntl64", "umask", "memset",
	"process_vm_readv", "process_vm_writev",
)

// ReboundOnce lists those that objects placed once get, too.
var ReboundOnce = []string{
	"__tls_get_addr", "__cxa_atexit", "__cxa_finalize", "dlopen", "dlclose", "dlsym", "dlvsym", "dlerror", "dladdr", "dladdr1", "dlinfo",
	"_dl_find_object", "dl_iterate_phdr", "getenv", "secure_getenv", "pthread_spin_lock",
}
