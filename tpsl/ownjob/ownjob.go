// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ownjob

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/pmi"
)

// NoSpawn is why a rank cannot spawn others.
const NoSpawn = "a job without mpiexec cannot spawn ranks: start the program with mpiexec"

// A Job is the server of one job.
type Job struct {
	server *pmi.Server
	conns  []*os.File     // the server's ends
	served sync.WaitGroup // sessions
}

// Handlers are told what ranks do. They are called on the goroutine of the rank's session, and must not block.
type Handlers struct {
	Aborted func(code int)    // a rank wants the job to end with this exit code
	Warned  func(line string) // a rank wants something that cannot be served
}

var made atomic.Int64

// New makes the server of a job, and a descriptor for each rank's session, by rank. The ranks close these. Preconditions: there is a rank.
func New(ranks int, h Handlers) (*Job, []int, error) {
	j := &Job{}
	pairs, err := connect(ranks)
	if err != nil {
		return nil, nil, err
	}
	world := pmi.World{Size: ranks, Universe: ranks, KVSName: fmt.Sprintf("own_%d_%d", os.Getpid(), made.Add(1)), Mapping: pmi.Mapping(make([]int, ranks))}
	j.server = pmi.NewServer(world, pmi.AllRanks(ranks), &nobody{warn: h.Warned}, events{h}, nil)
	fds := make([]int, ranks)
	for rank, pair := range pairs {
		fds[rank] = pair[1]
		conn := os.NewFile(uintptr(pair[0]), "PMI")
		j.conns = append(j.conns, conn)
		j.served.Go(func() { j.server.Serve(rank, 0, conn) })
	}
	return j, fds, nil
}

// connect makes a pair of connected sockets for each rank. The first of a pair does not block: it is the server's.
func connect(ranks int) (pairs [][2]int, err error) {
	for range ranks {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			pairs = append(pairs, pair)
			err = unix.SetNonblock(pair[0], true)
		}
		if err != nil {
			for _, made := range pairs {
				_ = unix.Close(made[0]) // nobody has used them
				_ = unix.Close(made[1])
			}
			return nil, fmt.Errorf("make the PMI sessions of %d ranks: %w", ranks, err)
		}
	}
	return pairs, nil
}

// Close ends all sessions, and returns when they have ended. The ranks' descriptors stay theirs.
func (j *Job) Close() {
	j.server.Close()
	for _, conn := range j.conns {
		_ = conn.Close() // the session may have closed it
	}
	j.served.Wait()
}

// events passes on what Handlers want to know.
type events struct{ Handlers }

func (events) Initialized(int)  {}
func (events) Finalized(int)    {}
func (events) Disconnected(int) {}

func (e events) Aborted(_, code int, _ string) { e.Handlers.Aborted(code) }
func (e events) Warned(rank int, text string) {
	e.Handlers.Warned(fmt.Sprintf("rank %d: %s", rank, text))
}

// nobody is above the server. Only the ranks' own name service is left to it.
type nobody struct {
	pmi.Names
	warn func(line string)
}

// Enter is not called: all ranks are below the server.
func (*nobody) Enter(_ pmi.Arrival, leave pmi.Leave) { leave(nil, pmi.ErrClosed) }

func (n *nobody) Publish(service, port string) error { return n.Names.Publish(service, port, false) }

func (n *nobody) Spawn(pmi.SpawnRequest) pmi.SpawnReply {
	n.warn("MPI_Comm_spawn: " + NoSpawn)
	return pmi.SpawnReply{Error: NoSpawn}
}
