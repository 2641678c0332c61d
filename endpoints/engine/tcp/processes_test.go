// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
	"github.com/tpsl/tpsl/internal/testsupport"
)

const talkVariable = "TCP_TEST_TALK"

// An errand is what processes that talk are told.
type errand struct {
	rank, processes, perHost, count int
	dies                            int // it says "now" when it has fetched so many; 0: it lives
	seed                            uint64
	mortal                          string // ranks, with commas between them
}

const talkFormat = "%d %d %d %d %d %d %s"

func (k errand) String() string {
	return fmt.Sprintf(talkFormat, k.rank, k.processes, k.perHost, k.count, k.dies, k.seed, k.mortal)
}

// talkAsProcess is the main function of such a process. It says at which addresses it listens, is told those of all, and says
// what it has fetched, who is gone, and how often it broke something and found no room.
func talkAsProcess(words string, input *bufio.Scanner) error {
	var k errand
	if _, err := fmt.Sscanf(words, talkFormat, &k.rank, &k.processes, &k.perHost, &k.count, &k.dies, &k.seed, &k.mortal); err != nil {
		return err
	}
	var listeners []*net.TCPListener
	for rail := range 2 {
		l, err := Listen(fmt.Sprintf("127.0.0.%d:0", 1+rail))
		if err != nil {
			return err
		}
		listeners = append(listeners, l)
	}
	fmt.Println("listens", listeners[0].Addr(), listeners[1].Addr())
	input.Scan()
	addresses := strings.Fields(input.Text())
	socket := os.NewFile(3, "socket")
	near, err := shm.Join(context.Background(), socket, shm.Options{First: k.rank, Ports: 1, Total: k.processes})
	if err != nil {
		return err
	}
	socket.Close()
	o := Options{Process: k.rank, Secret: secret, Idle: 5 * time.Millisecond, Patience: 10 * time.Minute, Rails: listeners[1:], Bells: []*carrier.Bell{near.Port(k.rank).Bell()}}
	for i := range k.processes {
		p := Peer{First: i, Ports: 1}
		if !near.Reaches(i) {
			p.Address, p.Rails = addresses[2*i], addresses[2*i+1:2*i+2]
		}
		o.Peers = append(o.Peers, p)
	}
	n, err := Join(context.Background(), listeners[0], o)
	if err != nil {
		return err
	}
	both, err := carrier.Both(near, n)
	if err != nil {
		return err
	}
	err = k.talk(both, near, n, input)
	return errors.Join(err, both.Close())
}

func (k *errand) talk(both carrier.Carrier, near *shm.Node, n *Node, input *bufio.Scanner) error {
	t := newTalker(both, k.seed)
	t.moody, t.large = 200*time.Millisecond, 1
	for rank := range t.near {
		t.near[rank] = near.Reaches(rank)
	}
	for word := range strings.SplitSeq(k.mortal, ",") {
		var rank int
		if _, err := fmt.Sscan(word, &rank); err != nil {
			return err
		}
		t.mortal[rank] = rank != k.rank
	}
	t.breaks = breaking(t.random, n)
	if k.dies > 0 {
		t.dies, t.die = k.dies, func() { fmt.Println("now") }
	}
	for { // one that says "now" goes on until it is killed
		if err := t.talk(k.count); err != nil {
			return err
		}
		if t.dies == 0 {
			break
		}
		t.dies = 0
	}
	fmt.Print("done ", t.fetched, " ", t.broken, " ", t.full)
	for rank, gone := range t.gone {
		if gone {
			fmt.Printf(" %d:%v", rank, errors.Is(both.Gone(rank), carrier.ErrPeerGone))
		}
	}
	fmt.Println()
	input.Scan() // until all are done
	return nil
}

// talkers starts processes that talk, each of whose lines may take so long, and has them join: by shared memory on each of several
// hosts, and by TCP.
func talkers(t *testing.T, errands []errand, limit time.Duration) (all []*carriertest.Process) {
	t.Helper()
	perHost := errands[0].perHost
	var sockets []*os.File
	var addresses []string
	for _, k := range errands {
		meets, joins, err := shm.Socketpair()
		require.NoError(t, err)
		p := carriertest.Start(t, talkVariable+"="+k.String(), joins)
		joins.Close()
		p.Limit = limit
		all, sockets = append(all, p), append(sockets, meets)
	}
	ctx, cancel := context.WithTimeout(context.Background(), carriertest.Within)
	defer cancel()
	var met sync.WaitGroup
	for first := 0; first < len(errands); first += perHost {
		met.Go(func() { assert.NoError(t, shm.Meet(ctx, sockets[first:first+perHost])) })
	}
	for _, p := range all {
		addresses = append(addresses, strings.Fields(p.Until("listens "))[1:]...)
	}
	for _, p := range all {
		_, err := fmt.Fprintln(p.Input, strings.Join(addresses, " "))
		require.NoError(t, err)
	}
	met.Wait()
	for _, s := range sockets {
		s.Close()
	}
	return all
}

// 16 processes of four hosts talk as those of TestManyTalk do, and three of them are killed in the midst of it, wherever they are: nothing is
// lost, doubled, overtaken or changed among the others, and all hear who is gone. TPSL_TEST_LARGE=1 has 64 processes, and 10^7 messages.
func TestProcessesAreKilled(t *testing.T) {
	testsupport.NothingLeft(t)
	limit := carriertest.Within
	if testsupport.Large() {
		limit = time.Hour
		testsupport.Limit(t, limit)
	}
	const perHost, deaths = 4, 3
	random := seeded(t)
	processes, count := testsupport.Times(16, 64), testsupport.Times(20, 1_500) // each to each
	mortal := random.Perm(processes)[:deaths]
	errands := make([]errand, processes)
	names := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(mortal)), ","), "[]")
	for rank := range errands {
		errands[rank] = errand{rank: rank, processes: processes, perHost: perHost, count: count, seed: random.Uint64(), mortal: names}
	}
	for i, rank := range mortal {
		errands[rank].dies = (i + 1) * count * processes / (deaths + 1)
	}
	all := talkers(t, errands, limit)
	for _, rank := range mortal {
		all[rank].Until("now")
		time.Sleep(time.Duration(random.IntN(20_000)) * time.Microsecond)
		all[rank].Kill()
	}
	messages, breaks, full := 0, 0, 0
	for rank, p := range all {
		if errands[rank].dies > 0 {
			continue
		}
		words := strings.Fields(p.Until("done "))[1:]
		var fetched, broken, noRoom int
		_, err := fmt.Sscan(strings.Join(words[:3], " "), &fetched, &broken, &noRoom)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, fetched, count*(processes-1-deaths), "rank %d", rank)
		messages, breaks, full = messages+fetched, breaks+broken, full+noRoom
		var gone []string
		for r := range processes {
			if errands[r].dies > 0 {
				gone = append(gone, fmt.Sprintf("%d:true", r))
			}
		}
		assert.Equal(t, gone, words[3:], "who is gone for rank %d", rank)
	}
	for _, p := range all {
		p.Release()
	}
	for rank, p := range all {
		if errands[rank].dies == 0 {
			p.Wait()
		}
	}
	t.Logf("%d messages, %d breaks, %d sends found no room", messages, breaks, full)
	require.Positive(t, breaks)
	require.Positive(t, full, "no track had to become longer")
}

// breaking returns what breaks a rail or a stream of a node's to a peer.
func breaking(random *rand.Rand, n *Node) func(peer int) bool {
	return func(peer int) bool {
		l := n.links[peer]
		rail, stream := breakRails(random, l)
		return rail || stream || l.sever(random.IntN(2) == 0)
	}
}
