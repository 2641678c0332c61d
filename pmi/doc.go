// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package pmi speaks the PMI wire protocols: PMI-1 as client and as server, PMI-2 as server.
//
// A session is one rank's connection to the process manager: requests and replies, which are lines "cmd=NAME key=value ..." in
// PMI-1 and "cmd=NAME;key=value;..." after their length in PMI-2. A key-value space holds what ranks tell each other while they
// start; a barrier makes everyone's puts visible to everyone, or to those of a group. The server serves the ranks of one host
// and one world, and hands what one host cannot decide to its upstream: barriers (counts add, key-values merge), the name
// service, and the spawning of further worlds.
//
// Dialects of the protocols differ. The server sends the spelling of Hydra 4.0, which every known client parses: replies
// shorter than 1024 bytes, value= last, vallen_max exactly 1024, the process mapping as triplets only.
//
// Not safe: a session trusts its peer with nothing but its own rank. Whoever holds the connection is that rank, so the
// connection must be a socket pair that only the rank inherits, or the caller of Identify must know whose it is.
//
// A Server, a Gather and Names may be used from any goroutine; a Client by one goroutine at a time.
package pmi
