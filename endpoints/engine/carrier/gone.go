// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"errors"
	"fmt"
)

// ErrPeerGone is what operations to or from a rank end with whose process has
// ended, has left, or was cut off.
var ErrPeerGone = errors.New("peer is gone")

// A GoneError is an ErrPeerGone with the rank's number.
type GoneError struct {
	Rank int
	Why  string // what became of its process
}

func (e *GoneError) Error() string { return fmt.Sprintf("rank %d is gone: %s", e.Rank, e.Why) }

// Is makes it an ErrPeerGone.
func (e *GoneError) Is(target error) bool { return target == ErrPeerGone }
