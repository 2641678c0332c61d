// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package verbs registers memory with an RDMA device through libibverbs, for the
// registration cache of package regcache, and has the cache told of memory that goes.
//
// A Device is a Registrar. Watch subscribes a cache's journal to the memory events of
// libucm: the library, UCX's, patches libc, so that it hears every munmap, mremap, madvise,
// brk and shmdt of the process, those of malloc too, before they are carried out. A hook
// in C writes the range to the journal; no Go runs below munmap.
//
// The package is built with the tag verbs, and then needs cgo, libibverbs-dev and
// libucx-dev. Without the tag it is empty.
//
// What is not safe: to register memory that is given back by system calls of its own, past
// libc, as Go's heap is and what golang.org/x/sys/unix maps: libucm does not hear of it, so
// Cache.Invalidate has to be called. All functions may be called by any thread.
package verbs
