// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package launch starts proxies on hosts and makes sure who they are.
//
// A Launcher starts a program on a host, with its standard input and output in our hands: fork, ssh and its like, srun.
// Nothing listens, so no other process can reach the channel. Children are the proxies that one process has started; a
// Child begins with a greeting: the proxy gets the job's Secret as the first line of its input, and proves in the first
// line of its output that it knows it. Only then is anything else sent, and only what follows is read as frames.
//
// Not safe: a host's root, and who may become the user there, can do what the user can.
//
// Launchers may be used from any goroutine. Each child has a goroutine that reads its frames.
package launch
