// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// Each rail serves as many ports as any other, but for one, in their order, and firstOf knows where it begins.
func TestRailsServePorts(t *testing.T) {
	for ports := 1; ports <= 9; ports++ {
		for rails := 1; rails <= ports; rails++ {
			counts := make([]int, rails)
			last := 0
			for port := range ports {
				r := railOf(port, ports, rails)
				require.True(t, r == last || r == last+1)
				if counts[r]++; counts[r] == 1 {
					require.Equal(t, port, firstOf(r, ports, rails), "%d ports on %d rails", port, rails)
				}
				last = r
			}
			require.LessOrEqual(t, slices.Max(counts)-slices.Min(counts), 1)
			require.Positive(t, slices.Min(counts))
		}
	}
}

// resources returns what the kernel lists of a kind for this process.
func resources(t *testing.T, kind string) (own []struct {
	PID   int
	Type  string
	MRLen int
}) {
	t.Helper()
	out, err := exec.Command("rdma", "-j", "resource", "show", kind).Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &own), "%s", out)
	return slices.DeleteFunc(own, func(o struct {
		PID   int
		Type  string
		MRLen int
	}) bool {
		_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", o.PID)) // it names the thread
		return err != nil
	})
}

// Processes that all talk to all have V queue pairs for each peer, V being the rails of the side with more, and the memory
// of their frames is what the formula says; by the kernel's count.
func TestCountsOfRails(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, rails := range []int{1, 2} {
		processes := 3
		nodes := joinedByRails(t, Options{}, slices.Repeat([]int{rails}, processes), slices.Repeat([]int{2}, processes)...)
		for from := range 2 * processes {
			for to := range 2 * processes {
				if from/2 != to/2 {
					mustSend(t, nodes[from/2].port(from), to, 1, nil, 0)
				}
			}
		}
		for rank := range 2 * processes {
			for range 2 * (processes - 1) {
				assert.Equal(t, carrier.Arrived, carriertest.Await(t, nodes[rank/2].port(rank)).Kind)
			}
		}
		each := ib.Share{Nodes: processes}.VRails(rails)
		assert.Equal(t, (processes-1)*rails, each)
		assert.Len(t, resources(t, "qp"), processes*each, "%d rails", rails)
		slot := 24 + 8<<10 + 40 // header, message, up to a whole line
		want := processes * (rails*64*(processes-1) + each*32) * slot
		have := 0
		for _, m := range resources(t, "mr") {
			have += m.MRLen
		}
		assert.Equal(t, want, have, "bytes of frames, %d rails", rails)
		carriertest.CloseAll(t, nodes)
	}
}

// A port that waits polls its own rail alone, whatever comes, and by whatever rail it sends: here nobody polls the other one.
func TestPortsPollTheirOwnRail(t *testing.T) {
	testsupport.NothingLeft(t)
	withoutSweep(t)
	nodes := joinedByRails(t, Options{}, []int{2, 2}, 2, 2)
	a, other := nodes[0].port(0), nodes[0].rails[1]
	before := other.polls.Load()
	const count = 10 // as many as leave a slot
	buf := make([]byte, 20_000)
	answers := make(chan error, 2)
	for _, rank := range []int{2, 3} {
		p := nodes[1].port(rank)
		go func() { // it sends back what comes
			for i := range count {
				e := carriertest.Await(t, p)
				for e.Kind != carrier.Arrived {
					e = carriertest.Await(t, p)
				}
				dst := make([]byte, carrier.Bytes(&e.Cell))
				if done, err := p.Fetch(&e.Cell, dst, 5); err != nil {
					answers <- err
					return
				} else if !done {
					carriertest.Await(t, p)
				}
				if _, err := p.Send(0, 7, int32(i), dst, 6); err != nil {
					answers <- err
					return
				}
			}
			answers <- nil
		}()
	}
	for i := range count {
		for _, rank := range []int{2, 3} {
			size := []int{8, 1000, len(buf)}[i%3]
			outcome, err := a.Send(rank, 7, int32(i), carriertest.Fill(buf[:size:size], uint64(i)), 9)
			require.NoError(t, err)
			require.NotEqual(t, carrier.Full, outcome)
			left := 1
			if outcome == carrier.Pending {
				left += 2 // that it was sent, and that the answer was received
			}
			dst := make([]byte, size)
			for range left {
				if e := carriertest.Await(t, a); e.Kind == carrier.Arrived {
					require.Equal(t, size, carrier.Bytes(&e.Cell))
					_, err := a.Fetch(&e.Cell, dst, 4)
					require.NoError(t, err)
				}
			}
			require.Equal(t, buf[:size], dst)
		}
	}
	require.NoError(t, <-answers)
	require.NoError(t, <-answers)
	assert.Equal(t, before, other.polls.Load(), "polls of the other rail")
}

// A port that sends by a lane of another rail, none of whose ports polls, gets slots again all the same.
func TestSlotsOfAnotherRail(t *testing.T) {
	testsupport.NothingLeft(t)
	withoutSweep(t)
	nodes := joinedByRails(t, Options{}, []int{2, 2}, 2, 2)
	a, b := nodes[0].port(0), nodes[1].port(3)
	const count = 5 * sendSlots
	sent := make(chan error, 1)
	go func() {
		for i, end := 0, time.Now().Add(carriertest.Within); i < count; {
			outcome, err := a.Send(3, 7, int32(i), nil, 0)
			switch {
			case err != nil:
				sent <- err
				return
			case outcome != carrier.Full:
				i++
			case time.Now().After(end):
				sent <- fmt.Errorf("no slot for message %d", i)
				return
			default:
				time.Sleep(100 * time.Microsecond)
			}
		}
		sent <- nil
	}()
	for i := range count {
		e := carriertest.Await(t, b)
		require.EqualValues(t, i, e.Cell.Tag)
		_, err := b.Fetch(&e.Cell, nil, 0)
		require.NoError(t, err)
	}
	require.NoError(t, <-sent)
	a.node.progressAll()
	l := a.node.links[1].lanes[1]
	require.Eventually(t, func() bool {
		l.lock.Lock()
		defer l.lock.Unlock()
		return !l.watched
	}, carriertest.Within, time.Millisecond, "the rail's watch looks no longer")
}

// The notice that a message was read goes by the sender's lane. If it went by the one that the reader has read by, as an immediate
// value does, the sender would not hear of it.
func TestNoticeByTheReadersLaneIsLost(t *testing.T) {
	testsupport.NothingLeft(t)
	withoutSweep(t)
	for _, wrong := range []bool{false, true} {
		nodes := joinedByRails(t, Options{}, []int{2, 2}, 2, 2)
		a, b := nodes[0].port(0), nodes[1].port(3)
		require.Equal(t, carrier.Pending, mustSend(t, a, 3, 0, carriertest.Filled(100_000, 1), 9))
		e := carriertest.Await(t, b)
		l := b.node.links[0]
		by := l.to(0)
		if wrong {
			by = l.in(b)
		}
		by.tell(b, control{Header: frame.Header{Kind: frameTaken, From: b.rank, To: 0}, word: carrier.Word(&e.Cell, 0)})
		if !wrong {
			assert.Equal(t, carrier.Sent, carriertest.Await(t, a).Kind)
		} else {
			require.Never(t, func() bool { return a.Poll(new(carrier.Event)) }, time.Second, time.Millisecond)
			a.node.progressAll() // it is with the other rail, where it makes no sense
			mournAll(t, a)
		}
		carriertest.CloseAll(t, nodes)
	}
}

// mournAll awaits that a peer's process is gone.
func mournAll(t *testing.T, p *Port) {
	t.Helper()
	for e := carriertest.Await(t, p); e.Kind != carrier.Gone; e = carriertest.Await(t, p) {
	}
}

// Messages stay in their slots until they are fetched, as long as the device has half of the slots. Then they are copied out, and
// slots that a port has emptied are given back at once: a port that takes nothing does not keep others from what is for them.
func TestMessagesStayInTheirSlots(t *testing.T) {
	testsupport.NothingLeft(t)
	withoutSweep(t)
	nodes := joined(t, Options{Slots: 80}, 1, 2)
	a, deaf, other := nodes[0].port(0), nodes[1].port(1), nodes[1].port(2)
	r := nodes[1].rails[0]
	slots := r.slots
	const count = 100
	for i := range count {
		mustSend(t, a, 1, int32(i), carriertest.Filled(1000, i), 0)
		mustSend(t, a, 2, int32(i), carriertest.Filled(500, i), 0)
		e := carriertest.Await(t, other)
		require.EqualValues(t, i, e.Cell.Tag)
		dst := make([]byte, 500)
		_, err := other.Fetch(&e.Cell, dst, 0)
		require.NoError(t, err)
		require.Equal(t, carriertest.Filled(500, i), dst)
		require.GreaterOrEqual(t, int(r.posted.Load()), slots/2-1)
	}
	require.False(t, other.Poll(new(carrier.Event)))
	require.True(t, !r.starves() || len(other.empty) == 0, "a rail that has few gets back what is empty")
	kept, copied := 0, 0
	for i := range count {
		e := carriertest.Await(t, deaf)
		require.EqualValues(t, i, e.Cell.Tag)
		if deaf.kept.Find(carrier.Word(&e.Cell, 0)).slot == noSlot {
			copied++
		} else {
			kept++
		}
		dst := make([]byte, 1000)
		_, err := deaf.Fetch(&e.Cell, dst, 0)
		require.NoError(t, err)
		require.Equal(t, carriertest.Filled(1000, i), dst)
	}
	assert.Greater(t, kept, slots/2-atOnce)
	assert.LessOrEqual(t, kept, slots/2+1)
	assert.Equal(t, count, kept+copied)
	assert.Less(t, len(deaf.empty), atOnce)
	assert.Equal(t, slots, int(r.posted.Load())+len(deaf.empty)+len(other.empty))
}

// Where more is sent than there are slots, and nobody takes it, senders wait, and nothing is lost.
func TestSlotsUsedUp(t *testing.T) {
	testsupport.NothingLeft(t)
	withoutSweep(t)
	nodes := joined(t, Options{Slots: 33}, 1, 1, 1)
	b := nodes[2].port(2)
	for _, n := range nodes[:2] { // so that both are connected
		mustSend(t, n.ports[0], 2, 0, nil, 0)
	}
	for range 2 {
		carriertest.Await(t, b)
	}
	const count = 30 // of each, which is less than it has slots itself
	for i := range count {
		for _, n := range nodes[:2] {
			require.Equal(t, carrier.Done, mustSend(t, n.ports[0], 2, int32(1+i), carriertest.Filled(2000, i), 0))
		}
	}
	time.Sleep(20 * time.Millisecond) // the devices have tried meanwhile, most often
	next := []int{0, 0}
	for range 2 * count {
		e := carriertest.Await(t, b)
		from := int(e.Cell.Source)
		require.EqualValues(t, 1+next[from], e.Cell.Tag)
		dst := make([]byte, 2000)
		_, err := b.Fetch(&e.Cell, dst, 0)
		require.NoError(t, err)
		require.Equal(t, carriertest.Filled(2000, next[from]), dst)
		next[from]++
	}
}

// The pages of a rail's frames are on the NUMA node that it is told.
func TestRailsAreNear(t *testing.T) {
	if os.Getenv("TPSL_TEST_NUMA") == "" {
		return // TestNUMA of tests/rdma runs it
	}
	testsupport.NothingLeft(t)
	for _, places := range [][]int{{0, 1}, {1, 0}} {
		var nodes []*Node
		railPlaces = places
		nodes = joinedByRails(t, Options{}, []int{2, 1}, 2, 1)
		railPlaces = nil
		mustSend(t, nodes[0].port(0), 2, 0, nil, 0)
		mustSend(t, nodes[1].port(2), 1, 0, nil, 0)
		carriertest.Await(t, nodes[1].port(2))
		carriertest.Await(t, nodes[0].port(1))
		for i, r := range nodes[0].rails {
			a := nodes[0].links[1].lanes[i]
			for what, memory := range map[string][]byte{"receive": r.memory, "send": a.memory} {
				for page, node := range nodesOf(t, memory) {
					require.Equal(t, places[i], node, "rail %d, page %d of the frames to %s", i, page, what)
				}
			}
		}
		carriertest.CloseAll(t, nodes)
	}
}

// nodesOf returns the NUMA node of each page of memory, by move_pages(2).
func nodesOf(t *testing.T, memory []byte) []int {
	t.Helper()
	size := os.Getpagesize()
	pages := make([]unsafe.Pointer, len(memory)/size)
	for i := range pages {
		pages[i] = unsafe.Pointer(&memory[i*size])
	}
	status := make([]int32, len(pages))
	_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(len(pages)), uintptr(unsafe.Pointer(&pages[0])), 0, uintptr(unsafe.Pointer(&status[0])), 0)
	require.Zero(t, errno)
	var nodes []int
	for _, s := range status {
		nodes = append(nodes, int(s))
	}
	return nodes
}
