// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/tpsl/tpsl/internal/ranges"
)

// Upstream is what a host's server needs from the rest of the job.
type Upstream interface {
	Exchanger
	Publish(service, port string) error
	Lookup(service string) (string, error)
	Unpublish(service string) error
	// Spawn answers when every rank of the new world runs, or none.
	Spawn(SpawnRequest) SpawnReply
}

// Events is told what happens in sessions. Its methods are called from the session's goroutine and must not block.
type Events interface {
	Initialized(rank int)
	Finalized(rank int)
	// Aborted: the rank asks for the end of the job with this exit code. It gets no reply.
	Aborted(rank, code int, text string)
	// Disconnected: the session ended after init without finalize.
	Disconnected(rank int)
	// Warned: the rank sent something that cannot be served; text is one line.
	Warned(rank int, text string)
}

// World is what every session of a world has in common.
type World struct {
	Size       int
	KVSName    string // at most 255 bytes; short, as clients subtract it from their line buffer
	Mapping    string // PMI_process_mapping; "" is not found, as an empty value would abort MPICH
	Universe   int    // how many ranks there could be; 0 is not known
	AllocKinds string // PMI_mpi_memory_alloc_kinds, "" is none
	Spawner    string // the key-value space of the world that spawned this one, or ""
	Preputs    []Entry
}

func (w World) universe() int {
	if w.Universe == 0 {
		return -1
	}
	return w.Universe
}

// A Server serves the ranks of one host.
type Server struct {
	world      World
	kvs        *kvs
	attributes *attributes
	up         Upstream
	gather     *Gather
	events     Events
	trace      Tracer
	mu         sync.Mutex
	sessions   map[int]*session // by rank, while they run
	spaces     int              // made by create_kvs, for their names
	dead       string           // PMI_dead_processes
}

// NewServer returns a server for the local ranks of a world. trace may be nil.
func NewServer(world World, local Ranks, up Upstream, events Events, trace Tracer) *Server {
	s := &Server{sessions: map[int]*session{}, world: world, kvs: newKVS(world.KVSName), attributes: newAttributes(), up: up, events: events, trace: trace}
	s.gather = NewGather(world.Size, local, merger{s})
	for _, e := range world.Preputs {
		s.kvs.put(Entry{world.KVSName, e.Key, e.Value})
	}
	return s
}

// Close fails open barriers, so that no session waits for ever.
func (s *Server) Close() {
	s.gather.Close()
	s.attributes.close()
}

// SetDead names the ranks that get PMI_dead_processes answers with: those that ended while the job goes on.
func (s *Server) SetDead(ranks []int) {
	sorted := slices.Sorted(slices.Values(ranks))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = ranges.List(sorted)
}

// A merger stores the union of a barrier before the first rank leaves it.
type merger struct{ *Server }

func (m merger) Enter(a Arrival, leave Leave) {
	m.up.Enter(a, func(union []Entry, err error) {
		if err == nil {
			m.kvs.merge(union)
		}
		leave(union, err)
	})
}

// Serve runs the session of one rank until its peer finalizes or goes, and closes conn. appnum is the index of the
// rank's program segment.
func (s *Server) Serve(rank, appnum int, conn io.ReadWriteCloser) {
	session := s.newSession(rank, appnum, conn)
	s.mu.Lock()
	s.sessions[rank] = session
	s.mu.Unlock()
	session.run()
	s.mu.Lock()
	delete(s.sessions, rank)
	s.mu.Unlock()
}

// InBarrier reports whether a rank waits in a barrier for others. known is false for a rank without a session.
func (s *Server) InBarrier(rank int) (waits, known bool) {
	s.mu.Lock()
	session := s.sessions[rank]
	s.mu.Unlock()
	return session != nil && session.waits.inBarrier(), session != nil
}

// find returns the value of a key, one of the server's own or of a key-value space.
func (s *Server) find(space, key string) (value string, found bool) {
	if strings.HasPrefix(key, reservedPrefix) {
		return s.builtin(key)
	}
	return s.kvs.get(space, key)
}

// reservedPrefix begins the keys that the server itself provides.
const reservedPrefix = "PMI_"

// builtin answers the reserved keys. One it does not know is a miss without a search.
func (s *Server) builtin(key string) (value string, found bool) {
	switch key {
	case "PMI_process_mapping":
		return s.world.Mapping, s.world.Mapping != ""
	case "PMI_mpi_memory_alloc_kinds":
		return s.world.AllocKinds, s.world.AllocKinds != "" && fitsReply(s.world.AllocKinds)
	case "PMI_dead_processes":
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.dead, fitsReply(s.dead)
	}
	return "", false
}

const (
	getReply      = "cmd=get_result rc=0 msg=success value="
	getReplyShort = "cmd=get_result rc=0 value="
)

// fitsReply reports whether a get of the value can be answered in a line that old clients can hold.
func fitsReply(value string) bool { return len(getReplyShort)+len(value)+1 <= maxReply }

// maxSpaces bounds create_kvs.
const maxSpaces = 256

func (s *Server) createSpace() (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spaces == maxSpaces {
		return "", false
	}
	s.spaces++
	name := fmt.Sprintf("%s_%d", s.world.KVSName, s.spaces)
	s.kvs.create(name)
	return name, true
}
