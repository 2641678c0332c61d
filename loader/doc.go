// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package loader maps private instances of ELF shared objects.
//
// An instance is one more copy of a library and of the libraries it is built
// from, with data, BSS, thread-local storage, GOT and environment of its own, in
// the same process; text and untouched data stay shared, because every copy maps
// the same file. Package plan decides what is mapped and how references resolve;
// this package carries the plan out and then stays below the instance: names
// that would break the illusion of a process of one's own (dlopen, getenv,
// __tls_get_addr, pthread_create, mmap of shared segments, process_vm_readv) are
// rebound to functions of its C half, see loader.h.
//
// What is not safe. A private library must not keep its identity in the process:
// the working directory, the real environment and file descriptors are shared by
// all instances. dlclose inside an instance only counts: objects go with their
// instance. When one is closed, no thread may be inside it or come to it later.
//
// Threads. A thread acts for at most one instance at a time (the C variable
// tpsl_current). [Open] and the C entry points may be called from any thread; the
// constructors of an instance run on the thread that opens it, in C, never below a
// Go frame when the C entry point is used.
package loader
