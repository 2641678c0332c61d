// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
)

// A maker joins processes by carriers. All are this one but for those that have a role, which are children and have no carrier here.
type maker func(t testing.TB, torus *Torus, roles map[int]string) ([]carrier.Carrier, map[int]*carriertest.Process)

var makers = map[string]maker{"shm": overShm, "tcp": overTCP}

// together runs f for each of so many at once, and wants no errors.
func together(t testing.TB, count int, f func(i int) error) {
	t.Helper()
	ends := make(chan error, count)
	for i := range count {
		go func() { ends <- f(i) }()
	}
	var errs []error
	for late := time.After(carriertest.Within); count > 0; count-- {
		select {
		case err := <-ends:
			errs = append(errs, err)
		case <-late:
			t.Fatal("hangs")
		}
	}
	require.NoError(t, errors.Join(errs...))
}

// closedAtEnd closes carriers or networks that are there, all at once: each waits for the others.
func closedAtEnd[C interface {
	comparable
	io.Closer
}](t testing.TB, all []C) []C {
	var none C
	t.Cleanup(func() {
		together(t, len(all), func(i int) error {
			if all[i] != none {
				if err := all[i].Close(); !errors.Is(err, os.ErrClosed) { // by the test
					return err
				}
			}
			return nil
		})
	})
	return all
}

func overShm(t testing.TB, torus *Torus, roles map[int]string) ([]carrier.Carrier, map[int]*carriertest.Process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), carriertest.Within)
	defer cancel()
	count := torus.Size()
	forMeet, forJoin := make([]*os.File, count), make([]*os.File, count)
	for i := range count {
		var err error
		forMeet[i], forJoin[i], err = shm.Socketpair()
		require.NoError(t, err)
		defer forMeet[i].Close()
		defer forJoin[i].Close()
	}
	all, children := make([]carrier.Carrier, count), map[int]*carriertest.Process{}
	for i, role := range roles {
		children[i] = startChild(t, forJoin[i], role, "shm", i, count, len(torus.sides))
	}
	together(t, count+1, func(i int) error {
		switch {
		case i == count:
			return shm.Meet(ctx, forMeet)
		case roles[i] != "":
			return nil
		}
		n, err := shm.Join(ctx, forJoin[i], shm.Options{First: i, Ports: 1, Total: count, Cells: 2, Packet: 2 << 10})
		all[i] = n
		return err
	})
	return closedAtEnd(t, all), children
}

// peersOf returns who process rank connects to: its neighbours.
func peersOf(torus *Torus, all []tcp.Peer, rank int) []tcp.Peer {
	peers := slices.Clone(all)
	for i := range peers {
		if i != rank && !slices.Contains(torus.Neighbours(rank), i) {
			peers[i].Address = ""
		}
	}
	return peers
}

func overTCP(t testing.TB, torus *Torus, roles map[int]string) ([]carrier.Carrier, map[int]*carriertest.Process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), carriertest.Within)
	defer cancel()
	var peers []tcp.Peer
	var listeners []*net.TCPListener
	for i := range torus.Size() {
		l, err := tcp.Listen("127.0.0.1:0")
		require.NoError(t, err)
		peers, listeners = append(peers, tcp.Peer{First: i, Ports: 1, Address: l.Addr().String()}), append(listeners, l)
	}
	all, children := make([]carrier.Carrier, torus.Size()), map[int]*carriertest.Process{}
	for i, role := range roles {
		words := []any{role, "tcp", i, torus.Size(), len(torus.sides)}
		for _, p := range peers {
			words = append(words, p.Address)
		}
		file, err := listeners[i].File()
		require.NoError(t, err)
		listeners[i].Close()
		children[i] = startChild(t, file, words...)
		file.Close()
	}
	together(t, torus.Size(), func(i int) error {
		if roles[i] != "" {
			return nil
		}
		n, err := tcp.Join(ctx, listeners[i], tcp.Options{Peers: peersOf(torus, peers, i), Process: i, Secret: tcp.Secret{1}, AtStart: true})
		all[i] = n
		return err
	})
	return closedAtEnd(t, all), children
}

// joined has all processes join the network, by options of their own.
func joined(t testing.TB, make maker, torus *Torus, options func(rank int) Options) []*Network {
	t.Helper()
	carriers, _ := make(t, torus, nil)
	return join(t, carriers, torus, options)
}

// join is the same with carriers that are there; what has none is nil.
func join(t testing.TB, carriers []carrier.Carrier, torus *Torus, options func(rank int) Options) (all []*Network) {
	t.Helper()
	for rank, c := range carriers {
		if c == nil {
			all = append(all, nil)
			continue
		}
		o := options(rank)
		o.Dimensions = len(torus.sides)
		n, err := Join(c, o)
		require.NoError(t, err)
		all = append(all, n)
	}
	return closedAtEnd(t, all)
}

// text makes a payload whose content its ends and its number tell.
func text(from, to, number int) []byte {
	sizes := []int{0, 8, 28, 29, 100, MaxPayload}
	b := make([]byte, sizes[number%len(sizes)])
	r := rand.NewPCG(uint64(from)<<32|uint64(to), uint64(number))
	for i := 0; i+8 <= len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], r.Uint64())
	}
	return b
}

// A tally counts messages, each of which must be the next one of its sender's, with that text.
type tally struct {
	sync.Mutex
	t     testing.TB
	to    int
	next  map[int]int // by sender
	count int
	all   chan struct{} // closed when so many have come
	want  int
}

func newTally(t testing.TB, to, want int) *tally {
	return &tally{t: t, to: to, next: map[int]int{}, all: make(chan struct{}), want: want}
}

func (c *tally) message(m Message) {
	c.Lock()
	defer c.Unlock()
	number := c.next[m.From]
	c.next[m.From]++
	if int(m.Type) != number || string(m.Payload) != string(text(m.From, c.to, number)) {
		c.t.Errorf("rank %d: message %d of rank %d is not number %d, or has another text", c.to, m.Type, m.From, number)
	}
	if c.count++; c.count == c.want {
		close(c.all)
	}
}

func (c *tally) wait() error {
	select {
	case <-c.all:
		return nil
	case <-time.After(carriertest.Within / 2):
		return errors.New("messages did not come")
	}
}
