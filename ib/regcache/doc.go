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
// One cache serves all ports of a process, since its threads share their memory. All
// methods may be called by any number of threads. A hit and Invalidate take no lock and
// allocate nothing; misses go one at a time.
//
// What is not safe: to tell Invalidate after the memory went, when another thread may
// have got the same addresses; and to free a range while it is acquired, which no cache
// can mend.
//
// docs/endpoints/regcache.md says why each atomic is enough.
package regcache
