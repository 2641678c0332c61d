// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package launch starts proxies on hosts and makes sure who they are.
//
// A Launcher starts a program on a host by fork, by ssh or a similar program, or by srun. The program's standard input and
// output lead to us. No socket listens, so no other process can reach the channel. Children are the proxies that one process
// has started. A Child begins with a greeting: the proxy gets the job's Secret as the first line of its input, and the first
// line of its output proves that it knows the Secret. Only after that we send anything else, and only what follows is read as
// frames.
//
// Not safe: root of a host, and everybody who may become the user there, can do what the user can do.
//
// Launchers may be used from any goroutine. Each child has a goroutine that reads its frames.
package launch
