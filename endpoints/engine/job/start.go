// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/pmi"
)

// patience is how long processes have to meet, if nobody says.
const patience = time.Minute

// mostPorts is how many ports a process may have.
const mostPorts = 1 << 16

// A Job is this process's part of a job.
type Job struct {
	Fabric  *engine.Fabric
	First   int             // the first rank of this process; it has the ports of the options
	carrier carrier.Carrier // nil: the process is alone
	session *session        // nil: there is no launcher
	closed  atomic.Bool
}

// started tells whether this process has begun the session that its launcher has for it.
var started atomic.Bool

// Start makes this process's part of the job's fabric. Options.Ports is how many ports are
// here, 0 for one and 65536 at most; Carrier must be nil. A process starts the job of its launcher once; without
// a launcher it may start any number of jobs of its own.
//
// The processes have one minute to meet, from when all have called Start. The wait until then is the launcher's, and has no
// limit. If the context has a deadline, that counts in place of the minute: it includes the wait, so a process that calls
// Start after the deadline of another makes that one fail. An error then is the context's, too.
func Start(ctx context.Context, o engine.Options) (*Job, error) { return start(ctx, patience, o) }

// StartWithin is Start with another time to meet than a minute. It, too, runs from when all have called.
func StartWithin(limit time.Duration, o engine.Options) (*Job, error) {
	return start(context.Background(), limit, o)
}

func start(ctx context.Context, limit time.Duration, o engine.Options) (*Job, error) {
	if o.Ports == 0 {
		o.Ports = 1
	}
	if o.Ports < 0 || o.Ports > mostPorts {
		return nil, fmt.Errorf("start a job: %d ports: a process has 1 to %d", o.Ports, mostPorts)
	}
	s, err := begin(os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("start a job: %w", err)
	}
	f, err := readFar(os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("start a job: %w", err)
	}
	j := &Job{session: s}
	if s != nil && s.size > 1 {
		// The first timer starts Go's poller, which has no error to tell if there are too few descriptors. The steps that follow have.
		time.AfterFunc(0, func() {})
		if j.carrier, err = meet(ctx, limit, s, o.Ports, f); err != nil {
			return nil, fmt.Errorf("start a job: %w", err)
		}
		j.First, _ = j.carrier.Ranks()
		o.Ports, o.Carrier = 0, j.carrier
	}
	if j.Fabric, err = engine.New(o); err != nil {
		if j.carrier != nil { // the session stays, so that the launcher sees this process end within it, and ends the others
			err = errors.Join(err, j.carrier.Close())
		}
		return nil, fmt.Errorf("start a job: %w", err)
	}
	return j, nil
}

// Close ends the process's part when all processes have called it: as with MPI_Finalize, each needs
// nothing more from the others then. Without a launcher any more, it ends at once, with an error. A
// process that fails ends without it; the launcher ends the others. Threads may be in calls
// of the ports: what waits returns engine.ErrClosed, or that a peer is gone, if that one was faster. A second Close is
// engine.ErrClosed.
func (j *Job) Close() error {
	if j.closed.Swap(true) {
		return engine.ErrClosed
	}
	if j.session == nil {
		return j.Fabric.Close()
	}
	err := j.session.client.Barrier()
	if err != nil {
		err = fmt.Errorf("end a job: %w", err)
	}
	err = errors.Join(err, j.Fabric.Close())
	if j.carrier != nil {
		err = errors.Join(err, j.carrier.Close())
	}
	return errors.Join(err, j.session.end())
}

// A session is what the launcher says about this process.
type session struct {
	rank, size int // of the processes
	file       *os.File
	client     *pmi.Client
}

// begin begins the session that the environment tells of; nil: there is none.
func begin(getenv func(string) string) (*session, error) {
	fd := getenv("PMI_FD")
	switch {
	case fd == "" && getenv("PMI_PORT") != "":
		return nil, errors.New("the launcher listens at PMI_PORT, and the engine needs PMI_FD: leave out -pmi-port")
	case fd == "" && getenv("PMIX_RANK") != "":
		return nil, errors.New("the launcher speaks PMIx, and the engine needs PMI-1: start the job by the mpiexec of tpsl, without -pmi x")
	case fd == "":
		return nil, nil
	case strings.Contains(fd, ","):
		return nil, fmt.Errorf("this process has several ranks of the launcher, %s: use -rpp 1, and Options.Ports", getenv("PMI_RANK"))
	}
	s := &session{}
	number := 0
	for name, n := range map[string]*int{"PMI_FD": &number, "PMI_RANK": &s.rank, "PMI_SIZE": &s.size} {
		var err error
		if *n, err = strconv.Atoi(getenv(name)); err != nil || *n < 0 {
			return nil, fmt.Errorf("environment: %s=%q: want a number from 0", name, getenv(name))
		}
	}
	if s.rank >= s.size {
		return nil, fmt.Errorf("environment: PMI_RANK is %d, but PMI_SIZE is %d", s.rank, s.size)
	}
	if started.Swap(true) { // the descriptor may be another file's by now
		return nil, errors.New("this process has started its launcher's job already: that can be done once")
	}
	s.file = os.NewFile(uintptr(number), "PMI_FD")
	s.client = pmi.NewClient(s.file)
	if err := s.client.Init(); err != nil {
		return nil, err
	}
	return s, nil
}

// atStart tells whether the environment asks for all connections at the start.
func atStart(getenv func(string) string) (bool, error) {
	switch c := getenv("TPSL_CONNECTIONS"); c {
	case "", "demand":
		return false, nil
	case "start":
		return true, nil
	default:
		return false, fmt.Errorf("environment: TPSL_CONNECTIONS=%q: want demand or start", c)
	}
}

func (s *session) end() error { return errors.Join(s.client.Finalize(), s.file.Close()) }

// Keys in the launcher's space.
const secretKey = "tpsl-engine-secret"

func cardKey(process int) string { return fmt.Sprintf("tpsl-engine-%d", process) }
func pieceKey(piece int) string  { return fmt.Sprintf("tpsl-engine-table-%d", piece) }

// pieceSize is how many characters of the table one value has; launchers take 1,024 at least.
const pieceSize = 800

// exchange tells the others about this process, and returns what all say, and the secret that process 0 has made.
//
// Process 0 alone asks for the card of each process, and makes a table of them, which is short: so a job of N processes asks
// the launcher for about N*N/100 values, where it would be N*N if each asked for all cards.
func (s *session) exchange(own card) (all []card, secret tcp.Secret, err error) {
	if err := s.client.Put(cardKey(s.rank), own.String()); err != nil {
		return nil, secret, err
	}
	if err := s.client.Barrier(); err != nil {
		return nil, secret, err
	}
	if s.rank == 0 {
		_, _ = rand.Read(secret[:]) // never fails
		if err := s.publish(secret); err != nil {
			return nil, secret, err
		}
	}
	if err := s.client.Barrier(); err != nil {
		return nil, secret, err
	}
	return s.learn()
}

// publish gives the secret and the table of all cards to all processes.
func (s *session) publish(secret tcp.Secret) error {
	var all []card
	for process := range s.size {
		text, err := s.client.Get(cardKey(process))
		if err != nil {
			return err
		}
		c, err := parseCard(text)
		if err != nil {
			return fmt.Errorf("process %d: %w", process, err)
		}
		all = append(all, c)
	}
	pieces := 0
	for piece := range slices.Chunk([]byte(pack(all)), pieceSize) {
		if err := s.client.Put(pieceKey(pieces), string(piece)); err != nil {
			return err
		}
		pieces++
	}
	return s.client.Put(secretKey, fmt.Sprintf("%x-%d", secret, pieces))
}

// learn reads what process 0 has published.
func (s *session) learn() (all []card, secret tcp.Secret, err error) {
	text, err := s.client.Get(secretKey)
	if err != nil {
		return nil, secret, err
	}
	word, number, _ := strings.Cut(text, "-")
	n, err := hex.Decode(secret[:], []byte(word))
	pieces, failed := strconv.Atoi(number)
	if err != nil || n != len(secret) || failed != nil {
		return nil, secret, errors.New("the secret of process 0 is damaged: run the same version in all processes")
	}
	var table strings.Builder
	for piece := range pieces {
		text, err := s.client.Get(pieceKey(piece))
		if err != nil {
			return nil, secret, err
		}
		table.WriteString(text)
	}
	all, err = unpack(table.String(), s.size)
	return all, secret, err
}
