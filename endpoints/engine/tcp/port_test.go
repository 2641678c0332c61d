// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"testing"

	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// sizes has every way that a message may go, and the borders between them.
var sizes = []int{0, 1, 8, 39, 40, 41, 1000, 16<<10 - 1, 16 << 10, 16<<10 + 1, 100_000, maxPart, 3<<20 + 1}

func TestEverySize(t *testing.T) {
	testsupport.NothingLeft(t)
	a, b := pair(t, Options{})
	carriertest.EverySize(t, sender(a), b, 16<<10, sizes)
}

func TestTruncation(t *testing.T) {
	a, b := pair(t, Options{})
	carriertest.Truncation(t, sender(a), b, sizes)
}
