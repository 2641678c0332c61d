// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package regcache keeps memory registered with a NIC from one transfer to the next, and
// never hands out a registration of memory that has gone since.
//
// A region is a range of whole pages that a Registrar has registered. Acquire returns
// one that covers the range asked for: a hit where there is one, else a miss, which
// registers. Release gives it back; it stays registered, for the next hit, until it is
// evicted or goes stale. A region is stale once Invalidate was told that pages of it go,
// or once a larger one replaced it: no Acquire returns it any more, and it is
// deregistered when its last user releases it.
//
// C code below munmap, which may not enter Go, tells a cache's Journal instead; the next
// Acquire applies what it was told. Package verbs has such a hook.
//
// One cache serves all ports of a process, since its threads share their memory. All
// methods may be called by any number of threads. A hit and Invalidate take no lock and
// allocate nothing, nor does who tells the journal; misses go one at a time, and so does
// the first Acquire after the journal was told, while it reads.
//
// What is not safe: to tell Invalidate after the memory went, when another thread may
// have got the same addresses; and to free a range while it is acquired, which no cache
// can mend.
//
// docs/endpoints/regcache.md says why each atomic is enough.
package regcache
