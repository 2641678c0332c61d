// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package carrier says what moves messages between the ports of different processes.
//
// A carrier is a process's part of something that spans processes: memory that they
// share (package shm), connections (package tcp), RDMA (package verbs), or two of these side by side (Both). It
// numbers the ports of all processes as ranks, and has a Port for each rank of its own
// process. What comes is an Event. A message that has come is a cell, which stands for
// it until Fetch takes it: the payload is in the cell, is kept by the carrier, or is an
// offer and still with its sender.
//
// A port has one Bell, whoever carries its messages: the word in memory on which its
// thread sleeps. Everybody who has something for a sleeping port rings it.
//
// A Port is for one thread at a time, different ports are independent. A Bell may be
// rung by any thread, and by other processes if it lies in memory that they share.
package carrier
