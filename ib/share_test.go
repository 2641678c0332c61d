// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The published figures: 4 nodes of 128 cores and 4 NICs, each of these near 4 of the 16 NUMA nodes.
func TestPublishedQPs(t *testing.T) {
	large := Share{Here: 128, Elsewhere: 3 * 128, Nodes: 4, NICs: 4}
	single := large
	single.NICs = 1
	for name, c := range map[string]struct{ want, have int }{
		"RC, a process for each rank": {196608, large.RC()},
		"RC, one NIC":                 {49152, single.RC()},
		"XRC":                         {1536, large.XRC()},
		"4 virtual rails":             {12, large.VRails(4)},
		"16 virtual rails":            {48, large.VRails(16)},
		"UD":                          {512, large.UD()},
		"UD, one NIC":                 {128, single.UD()},
	} {
		assert.Equal(t, c.want, c.have, name)
	}
	assert.Equal(t, 128*128, large.RC()/large.VRails(4), "virtual rails save a factor of C squared")

	// Nodes of 1 and 3 ranks have as many queue pairs as each other: one at each end.
	assert.Equal(t, 3, Share{Here: 1, Elsewhere: 3, Nodes: 2, NICs: 1}.RC())
	assert.Equal(t, 3, Share{Here: 3, Elsewhere: 1, Nodes: 2, NICs: 1}.RC())
	assert.Zero(t, Share{Here: 4, Nodes: 1, NICs: 1}.RC())
}
