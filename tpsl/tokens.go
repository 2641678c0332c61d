// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

import "encoding/binary"

// largestRequest is how many bytes an MPI_Request of MPICH has at most. They are 272 in MPICH 4.0.2.
const largestRequest = 1024

// isRequestToken tells that a word is in a request of MPICH and leads to the beginning of another rank's request. Such a word is a
// token; see [loader.Token]. In partitioned communication each rank keeps the address of its peer's request in its own, and
// sends it along, so that the peer finds its request (struct MPIDIG_part_am_req in MPICH's mpidpre.h).
func isRequestToken(before, to []byte) bool {
	return isRequest(to) && endsInRequest(before)
}

// endsInRequest tells whether a request begins shortly before the end of memory, which is aligned as requests are.
func endsInRequest(memory []byte) bool {
	for back := 8; back <= min(largestRequest, len(memory)); back += 8 {
		if isRequest(memory[len(memory)-back:]) {
			return true
		}
	}
	return false
}

// isRequest tells whether a request of MPICH that lies in the library's data is at the beginning of memory. All objects of MPICH
// begin with their handle (MPIR_OBJECT_HEADER). Its upper bits say where the object lies, 2 for the data, and what
// it is, 0xb for a request (mpir_objects.h).
func isRequest(memory []byte) bool {
	const where, what = 2, 0xb
	return len(memory) >= 4 && binary.LittleEndian.Uint32(memory)>>26 == where<<4|what
}
