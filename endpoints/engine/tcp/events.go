// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
)

// An event is what a port is to find by Poll.
type event struct {
	kind   carrier.Kind
	lost   bool
	handle uint64
	peer   int // Gone: the process

	cell    uint32 // Arrived: the kind of the cell
	header  frame.Header
	words   [3]uint64 // Offer
	inline  [40]byte  // Inline
	payload []byte    // Kept
}
