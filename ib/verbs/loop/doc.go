// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package loop sends from registered memory to the same process, through a device, and
// maps memory as C programs do, for the tests of package verbs only.
//
// A Loop is two queue pairs on one device that are connected to each other, and the
// memory into which the one sends by way of the other. What arrives there is what the device
// reads, and so shows which pages it has registered. One thread at a time may use a Loop;
// the functions on memory may be called by any.
package loop
