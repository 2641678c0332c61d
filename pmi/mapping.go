// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
	"strings"
)

// A Block places ranks: PerNode ranks on each of Nodes nodes from First on.
type Block struct {
	First, Nodes, PerNode int
}

// Mapping writes PMI_process_mapping as triplets; a bare number crashes MPICH 4.0.2.
func Mapping(blocks []Block) string {
	var b strings.Builder
	b.WriteString("(vector")
	for _, block := range blocks {
		fmt.Fprintf(&b, ",(%d,%d,%d)", block.First, block.Nodes, block.PerNode)
	}
	b.WriteString(")")
	return b.String()
}

// BlocksOf folds a list of rank counts, one per node in node order, into blocks.
func BlocksOf(perNode []int) []Block {
	var blocks []Block
	for node, count := range perNode {
		if last := len(blocks) - 1; last >= 0 && blocks[last].PerNode == count {
			blocks[last].Nodes++
			continue
		}
		blocks = append(blocks, Block{First: node, Nodes: 1, PerNode: count})
	}
	return blocks
}
