// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package match brings messages and receives together.
//
// A node stands for a message that has come, or for a receive that was posted; its
// envelope is context, peer and tag. Post and Arrive are one operation seen from two
// sides: take the partner out if it waits here, else leave the node to wait for its
// own. Nodes live in a slab and are named by index, so that nothing here holds a
// pointer into what the collector must scan, and C could share the layout.
//
// Table is a hash table of one operation, Queues the two lists of the textbook;
// Matcher is the one of them that an option chose. All keep MPI's order: equal
// envelopes match first come, first served; a receive with wildcards competes with
// the exact ones by the order of posting, and takes the earliest message that fits.
//
// All methods of Table, and of a Matcher that NewShared made but Empty, may be called at any time by any number of
// threads. What Probe found may be gone as soon as it returns, so it asks its caller about the message before. Queues
// and other Matchers, and Add of Nodes, are for one thread at a time: whoever holds the port. No operation allocates,
// but growing.
//
// docs/endpoints/table.md has the proofs.
package match
