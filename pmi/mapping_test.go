// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMapping(t *testing.T) {
	for want, nodes := range map[string][]int{
		"(vector,(0,1,4))":                   {0, 0, 0, 0},
		"(vector,(0,1,2),(1,1,1),(2,1,3))":   {0, 0, 1, 2, 2, 2},
		"(vector,(0,3,2))":                   {0, 0, 1, 1, 2, 2},
		"(vector,(0,3,3))":                   {0, 0, 0, 1, 1, 1, 2}, // ends in the midst
		"(vector,(0,2,2))":                   {0, 0, 1, 1, 0, 0, 1}, // starts over
		"(vector,(0,2,1))":                   {0, 1, 0, 1},
		"(vector,(0,1,2),(1,1,1))":           {0, 0, 1, 0, 0, 1, 0},
		"(vector,(0,1,1),(1,1,2))":           {0, 1, 1},
		"(vector,(1,1,1),(0,2,1),(0,1,1))":   {1, 0, 1, 0}, // valid, not the shortest
		"(vector,(2,1,1),(0,2,1))":           {2, 0, 1},
		"(vector,(0,1,2),(1,1,3))":           {0, 0, 1, 1, 1, 0, 0},
		"(vector,(0,1,2),(1,1,1),(0,1,100))": append([]int{0, 0, 1}, make([]int, 100)...),
	} {
		assert.Equal(t, want, Mapping(nodes), nodes)
	}
}

// Whatever the layout, the mapping read by the rule of its readers gives the layout again.
func FuzzMapping(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 0, 0, 1})
	f.Fuzz(func(t *testing.T, layout []byte) {
		if len(layout) == 0 {
			return
		}
		nodes := make([]int, len(layout))
		for i, node := range layout {
			nodes[i] = int(node) % 4
		}
		if mapping := Mapping(nodes); mapping != "" {
			assert.Equal(t, nodes, readMapping(t, mapping, len(nodes)))
		} else {
			assert.Greater(t, len(layout), maxReply/20, "a short layout has a mapping")
		}
	})
}

// readMapping places ranks as readers of the mapping do.
func readMapping(t *testing.T, mapping string, ranks int) (nodes []int) {
	body, found := strings.CutPrefix(mapping, "(vector")
	require.True(t, found)
	for len(nodes) < ranks {
		for rest := body; rest != ")"; {
			var first, count, perNode int
			_, err := fmt.Sscanf(rest, ",(%d,%d,%d)", &first, &count, &perNode)
			require.NoError(t, err)
			for i := range count * perNode {
				nodes = append(nodes, first+i/perNode)
			}
			rest = rest[strings.Index(rest, ")")+1:]
		}
	}
	return nodes[:ranks]
}
