// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package pmi speaks the PMI-1 wire protocol, as client and as server.
//
// A session is one rank's connection to the process manager: a byte stream of lines "cmd=NAME key=value ...", strictly
// one request and one reply at a time. A key-value space holds what ranks tell each other while they start; a barrier
// makes everyone's puts visible to everyone. The server serves the ranks of one host and hands what one host cannot
// decide to its upstream: barriers (counts add, key-values merge) and the name service.
//
// Dialects of the protocol differ. The server sends the spelling of Hydra 4.0, which every known client parses: replies
// shorter than 1024 bytes, value= last, vallen_max exactly 1024, the process mapping as triplets only.
//
// Not safe: a session trusts its peer with nothing but its own rank. Whoever holds the connection is that rank, so the
// connection must be a socket pair that only the rank inherits.
//
// A Server, a Gather and Names may be used from any goroutine; a Client by one goroutine at a time.
package pmi
