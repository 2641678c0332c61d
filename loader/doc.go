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
// rebound to functions of its C half, see libc.c. Functions of the caller's may stand in
// front of those of other libraries ([Wrappers]). loader.h is the interface of the C half.
//
// # Using a library
//
// Open an instance for each goroutine, or whatever else is to have the library to
// itself; close it when done. Which libraries of the closure are private is a matter of
// policy: the C library never, C++ and Fortran runtimes by default not, all others. The
// file that the environment variable TPSL_POLICY names may say otherwise, and
// "tpsl check FILE" tells.
//
// [Instance.Call] passes integers and pointers. For floating-point numbers and structs by
// value, write a C function that takes pointers to them, in a library that is linked with
// the one in question, and open that. A text is bytes with a zero behind them. Memory of
// Go that C gets a pointer to is pinned (runtime.Pinner) until the call returns; what C
// keeps longer must be C's. See the example of the package.
//
// # Threads
//
// A library that is not made for threads is right with one goroutine at a time per
// instance. A call runs on one thread, but the next call of the same goroutine may run on
// another. Where the library keeps something per thread (a thread-local variable such as
// its last error, a lock that is held from call to call), begin with runtime.LockOSThread.
//
// A thread acts for at most one instance at a time, in [Open] and Call. By this, and by
// the code that asks, the loader knows whose environment and libraries are meant. Code that is
// reached by an address from [Instance.Symbol] without Call does not act for the instance.
//
// [Open] and the C entry points may be called from any thread, at once, too. The
// constructors of an instance run on the thread that opens it, in C, never below a Go
// frame when the C entry point is used.
//
// # What is not safe
//
// A private library must not keep its identity in the process: the working directory,
// the real environment and file descriptors are shared by all instances. dlclose
// inside an instance only counts: objects go with their instance. When one is closed, no
// thread may be inside it or come to it later. A crash in C is a crash of the process.
package loader
