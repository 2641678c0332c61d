// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package ring is a bounded queue of 64-byte cells with many producers and one
// consumer.
//
// A cell is one cache line: a header of 24 bytes and 40 bytes of payload. A
// producer claims the next cell, fills it in and publishes it; the consumer looks
// at the front cell in place and pops it. Producers that claimed earlier come out
// earlier, whoever publishes first.
//
// A ring lies in one piece of memory without any pointer in it, so that it may lie
// in a mapping that processes share at different addresses. Memory of zeros is an
// empty ring. A full ring refuses: nobody waits here.
//
// Claim and Publish may be called by any thread; Front and Pop by one thread at a
// time. A producer that never publishes what it claimed stops the ring.
// docs/endpoints/ring.md says why each store is enough.
package ring
