// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package queue makes queue pairs of RDMA devices: reliable connections, by which processes send to each other and read each
// other's memory.
//
// A Port is where queue pairs send from. What queue pairs have done comes to a Completions, which has a file to wait
// for. Two processes each make a Pair, tell each other its Address by other means, and Connect. Then a message
// that one sends comes into memory that the other has posted for it. A Pair that fails does nothing more: all that
// was posted comes back with a status, and so does all that is posted later.
//
// Memory is given by address, length in bytes and the key of its registration. It must stay, and stay registered, until its
// completion has come or the Pair is closed.
//
// The package is built with the tag verbs, and then needs cgo and libibverbs-dev. Without the tag it is empty. Any thread may
// call a Pair and a Completions, but Close.
package queue
