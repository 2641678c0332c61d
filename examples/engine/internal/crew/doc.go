// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package crew runs the threads of an example, each with a port of one fabric, and has the few
// collective operations that the examples need.
//
// A crew has ports, numbered as ranks, and one or more mates that share each port. If mpiexec has started several
// processes, their ports are one crew. Sharing takes a
// model that is made for it. Threads are goroutines, OS threads or user-level threads (the option -threads-as). Context 0 is the
// crew's own; an example's messages use others.
//
// An error or a panic of one member ends the fabric, so that no other one waits for ever.
// A Member belongs to its thread; of a port's mates only the first calls the collective operations, all call Meet.
package crew
