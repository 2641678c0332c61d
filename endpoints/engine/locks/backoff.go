// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

const (
	longest   = 16 // calls let pass between two attempts, at most
	tolerated = 16 // failed attempts
)

// Backoff spares a lock the attempts of threads that ask again and again whether
// something is done. It counts calls, not time, which would have to be read; a
// thread that sleeps between its calls does better without. It is kept between calls.
type Backoff struct{ skip, last, failed uint8 }

// Due says whether this call tries the lock.
func (b *Backoff) Due() bool {
	if b.skip == 0 {
		return true
	}
	b.skip--
	return false
}

// Failed notes that the lock was held: from now on twice as many calls are let
// pass. True: it was held so often that the caller waits for it, for MPI promises
// that a call that is repeated succeeds in the end.
func (b *Backoff) Failed() (enough bool) {
	b.last = min(2*b.last+1, longest)
	b.skip = b.last
	b.failed++
	return b.failed > tolerated
}

// Hurry makes the next call due: the caller has slept since the last.
func (b *Backoff) Hurry() { b.skip = 0 }

// Reset begins anew, after the lock was had.
func (b *Backoff) Reset() { *b = Backoff{} }
