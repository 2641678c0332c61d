// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
	"strings"
)

// A block places ranks: perNode ranks on each of nodes nodes from first on.
type block struct {
	first, nodes, perNode int
}

// Mapping writes PMI_process_mapping: which node each rank is on. It has triplets only, as a bare number crashes MPICH
// 4.0.2. Readers repeat the list until every rank has a node, so what repeats is written once. A mapping too long for a
// reply is none, "": MPICH then exchanges host names.
func Mapping(nodes []int) string {
	blocks := fold(nodes)
	for n := 1; n < min(len(blocks), maxReply/len(",(0,1,1)")); n++ {
		if repeats(blocks[:n], nodes) {
			blocks = blocks[:n]
		}
	}
	var b strings.Builder
	b.WriteString("(vector")
	for _, k := range blocks {
		fmt.Fprintf(&b, ",(%d,%d,%d)", k.first, k.nodes, k.perNode)
	}
	b.WriteString(")")
	if !fitsReply(b.String()) {
		return ""
	}
	return b.String()
}

// fold cuts the ranks' nodes into blocks, each as long as it can be. The end may stand in the midst of a block.
func fold(nodes []int) []block {
	var blocks []block
	for len(nodes) > 0 {
		k := block{first: nodes[0], nodes: 1, perNode: run(nodes)}
		nodes = nodes[k.perNode:]
		for len(nodes) > 0 && nodes[0] == k.first+k.nodes {
			n := run(nodes)
			if n != k.perNode && (n > k.perNode || n < len(nodes)) {
				break
			}
			k.nodes++
			nodes = nodes[n:]
		}
		blocks = append(blocks, k)
	}
	return blocks
}

// run counts how many ranks at the beginning are on one node.
func run(nodes []int) int {
	n := 1
	for n < len(nodes) && nodes[n] == nodes[0] {
		n++
	}
	return n
}

// repeats reports whether blocks, again and again, place every rank.
func repeats(blocks []block, nodes []int) bool {
	for {
		for _, k := range blocks {
			for i := range k.nodes * k.perNode {
				if len(nodes) == 0 {
					return true
				}
				if nodes[0] != k.first+i/k.perNode {
					return false
				}
				nodes = nodes[1:]
			}
		}
	}
}
