// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

// A Share is a node's part of a job, each of whose ranks is connected with each rank of the other nodes. Its methods say how
// many queue pairs the node has then, by published formulae; ranks of one node are to reach each other by shared memory.
// With N nodes of C ranks and H NICs each, Here is C, Elsewhere (N-1)*C and Nodes N.
type Share struct {
	Here, Elsewhere int // ranks
	Nodes           int
	NICs            int // that each rank drives
}

// RC is the number with a reliable connection for each pair of ranks: (N-1)*C*C*H.
func (s Share) RC() int { return s.Here * s.Elsewhere * s.NICs }

// XRC is the number with connections of which each serves all ranks of a node: (N-1)*C*H.
func (s Share) XRC() int { return s.Elsewhere * s.NICs }

// UD is the number with datagrams, of which a rank has one queue pair for all others: C*H.
func (s Share) UD() int { return s.Here * s.NICs }

// VRails is the number with virtual rails, which all ranks of a node share, each connected with its like on every other
// node: (N-1)*rails, where rails is H, or another number of each node.
func (s Share) VRails(rails int) int { return (s.Nodes - 1) * rails }
