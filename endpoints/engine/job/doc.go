// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package job starts the message engine in each process that a launcher has started.
//
// Start asks the launcher by PMI who this process is, tells the others where it is, and
// meets them: those on this host on shared memory, all others over TCP. The ports of
// the processes together are the ranks of one fabric, in the order of the processes.
// A connection is made when there is something to send; with TPSL_CONNECTIONS=start all are made by Start.
// TPSL_RAILS names several networks for large messages. With TPSL_CARRIER=verbs hosts talk by RDMA, if the program is built
// with the tag verbs.
// Without a launcher the process is a job of its own.
//
//	j, err := job.Start(ctx, engine.Options{Ports: 4})
//	port := j.Fabric.Port(j.First)
//	...
//	err = j.Close()
//
// Not safe: the job's secret, by which processes prove who they are, travels through the
// launcher's key-value space. Whoever can read that can join. mpiexec -pmi-trace does not show it; other
// launchers may, where they show what ranks say.
//
// Start and Close are for one thread.
package job
