// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command accesses [OPTION...] has all ranks of a job invoke handlers of one another and access memory of one another, and checks
// every answer. With -kill the last process kills itself in the middle, and the others must hear so and go on.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/job"
)

// How much there is of everything.
const (
	calls  = 300    // active messages from each rank to each
	large  = 20_000 // bytes of every tenth of them, and of a put
	adds   = 200    // to each rank's counter, by each rank
	rounds = 50     // of compare-swaps, each with one winner
)

// The handlers.
const (
	handlerAdd = iota
	handlerPut
	handlerArrive
	handlerRound
)

// Where things are in a rank's memory; the rest are slots of large bytes, one for each rank.
const (
	counterAt = 0
	roundsAt  = 8
	slotsAt   = roundsAt + 8*rounds
)

// A player is one rank. Handlers change what it has heard.
type player struct {
	*engine.Port
	size   int
	memory []byte
	keys   []engine.Key // by rank

	sum, added, damaged, puts, arrived atomic.Int64
	seen                               [rounds]map[uint64]int // rank 0: by winner, how many say so
	answers                            atomic.Int64
}

var players []*player // by rank; nil: another process's

func handlers() []engine.Handler {
	of := func(p *engine.Port) *player { return players[p.Rank()] }
	return []engine.Handler{
		handlerAdd: func(p *engine.Port, e engine.Envelope, data []byte) {
			n := int64(binary.LittleEndian.Uint64(data))
			if want := number(int(e.Peer), int(n), len(data)); !bytes.Equal(want, data) {
				of(p).damaged.Add(1)
			}
			of(p).sum.Add(n)
			of(p).added.Add(1)
		},
		handlerPut: func(p *engine.Port, e engine.Envelope, _ []byte) {
			if !bytes.Equal(of(p).slot(int(e.Peer)), slotOf(int(e.Peer), p.Rank())) {
				of(p).damaged.Add(1)
			}
			of(p).puts.Add(1)
		},
		handlerArrive: func(p *engine.Port, _ engine.Envelope, _ []byte) { of(p).arrived.Add(1) },
		handlerRound: func(p *engine.Port, e engine.Envelope, data []byte) {
			me := of(p)
			winners := &me.seen[e.Context]
			if *winners == nil {
				*winners = map[uint64]int{}
			}
			(*winners)[binary.LittleEndian.Uint64(data)]++
			me.answers.Add(1)
		},
	}
}

// number is a message about n, whose other bytes tell who sends it.
func number(from, n, length int) []byte {
	b := bytes.Repeat([]byte{byte(from + n)}, length)
	binary.LittleEndian.PutUint64(b, uint64(n))
	return b
}

// slotOf is what a rank puts into its slot of another.
func slotOf(from, to int) []byte {
	b := make([]byte, large)
	for i := range b {
		b[i] = byte(i*7 + from*31 + to)
	}
	return b
}

func (p *player) slot(of int) []byte { return p.memory[slotsAt+of*large:][:large] }

func main() {
	ports := flag.Int("ports", 1, "ranks of each process")
	model := flag.String("model", "private", "threads per port")
	within := flag.Duration("within", time.Minute, "the time that all may take")
	kill := flag.Bool("kill", false, "the last process kills itself in the middle")
	flag.Parse()
	signal.Ignore(syscall.SIGUSR1) // by which the launcher tells of deaths
	time.AfterFunc(*within, func() { panic(fmt.Sprintf("no end after %v", *within)) })
	if err := play(*ports, *model, *kill); err != nil {
		fail(err)
	}
}

// fail ends the process, for its other ranks may wait for the one that fails.
func fail(err error) {
	fmt.Fprintln(os.Stderr, "accesses:", err)
	os.Exit(1)
}

func play(ports int, model string, kill bool) error {
	o := engine.Options{Ports: ports, Handlers: handlers()}
	for _, m := range engine.Models() {
		if m.String() == model {
			o.Model = m
		}
	}
	players = make([]*player, 1<<10) // before the first handler can run
	for i := range players {
		players[i] = new(player)
	}
	j, err := job.Start(context.Background(), o)
	if err != nil {
		return err
	}
	size := j.Fabric.Size()
	var all sync.WaitGroup
	for i := range ports {
		all.Go(func() {
			p := players[j.First+i]
			p.Port, p.size = j.Fabric.Port(j.First+i), size
			if err := p.play(kill, size-ports); err != nil {
				fail(fmt.Errorf("rank %d: %w", p.Rank(), err))
			}
		})
	}
	all.Wait()
	if kill {
		return j.Fabric.Close() // the launcher's barrier waits for the dead, too
	}
	return j.Close()
}

// play checks everything in turn. The ranks from firstOfLast on are those of the process that kills itself.
func (p *player) play(kill bool, firstOfLast int) error {
	for _, step := range []func() error{p.shareKeys, p.call, p.put, p.get} {
		if err := step(); err != nil {
			return err
		}
	}
	if kill {
		if err := p.outlive(firstOfLast); err != nil {
			return err
		}
	}
	for _, step := range []func() error{p.add, p.compete} {
		if err := step(); err != nil {
			return err
		}
	}
	if p.Rank() == 0 {
		fmt.Printf("%d ranks: every answer is right\n", p.size)
	}
	return nil
}

// shareKeys registers the memory, and tells all ranks its key.
func (p *player) shareKeys() error {
	p.memory = make([]byte, slotsAt+p.size*large)
	region, err := p.Register(p.memory)
	if err != nil {
		return err
	}
	own := region.Key()
	var requests []engine.Request
	for rank := range p.size {
		r, err := p.Isend(own[:], engine.Envelope{Peer: int32(rank)})
		if err != nil {
			return err
		}
		requests = append(requests, r)
	}
	p.keys = make([]engine.Key, p.size)
	for rank := range p.keys {
		if _, err := p.Recv(p.keys[rank][:], engine.Envelope{Peer: int32(rank)}); err != nil {
			return err
		}
	}
	return engine.WaitAll(requests, nil)
}

// call sums up by active messages.
func (p *player) call() error {
	var done engine.Counter
	for i := range calls {
		length := 8
		if i%10 == 0 {
			length = large
		}
		for rank := range p.size {
			if err := p.Into(&done, 0).Invoke(number(p.Rank(), i, length), engine.Envelope{Peer: int32(rank), Tag: handlerAdd}); err != nil {
				return err
			}
		}
	}
	if err := done.Wait(p.Port, uint64(calls*p.size)); err != nil {
		return err
	}
	if err := p.Await(func() bool { return p.added.Load() >= int64(calls*p.size) }); err != nil {
		return err
	}
	if sum, want := p.sum.Load(), int64(p.size*calls*(calls-1)/2); sum != want || p.damaged.Load() > 0 {
		return fmt.Errorf("the sum of active messages is %d, not %d; %d are damaged", sum, want, p.damaged.Load())
	}
	return nil
}

// put fills a slot of each rank, whose handler checks it.
func (p *player) put() error {
	var requests []engine.Request
	for rank := range p.size {
		r, err := p.PutSignal(p.keys[rank], slotsAt+p.Rank()*large, slotOf(p.Rank(), rank), handlerPut, 0)
		if err != nil {
			return err
		}
		requests = append(requests, r)
	}
	if err := engine.WaitAll(requests, nil); err != nil {
		return err
	}
	if err := p.Await(func() bool { return p.puts.Load() >= int64(p.size) }); err != nil {
		return err
	}
	if p.damaged.Load() > 0 {
		return errors.New("a signal came before what was put")
	}
	return p.meet(p.size)
}

// get reads all that all have put.
func (p *player) get() error {
	for rank := range p.size {
		got := make([]byte, p.size*large)
		r, err := p.Get(p.keys[rank], slotsAt, got)
		if err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return err
		}
		for from := range p.size {
			if !bytes.Equal(got[from*large:][:large], slotOf(from, rank)) {
				return fmt.Errorf("what rank %d has put into rank %d is damaged", from, rank)
			}
		}
	}
	return p.meet(p.size)
}

// meet is a barrier of the first ranks, by active messages.
func (p *player) meet(size int) error {
	for rank := range size {
		if _, err := p.Invoke(nil, engine.Envelope{Peer: int32(rank), Tag: handlerArrive}); err != nil {
			return err
		}
	}
	if err := p.Await(func() bool { return p.arrived.Load() >= int64(size) }); err != nil {
		return err
	}
	p.arrived.Add(-int64(size)) // some may have come to the next one already
	return nil
}

// outlive kills this process if it is the last; the others hear of it by each operation, and are fewer from then on.
func (p *player) outlive(firstOfLast int) error {
	if p.Rank() >= firstOfLast {
		if p.Rank() == firstOfLast {
			return syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		}
		return p.Await(func() bool { return false })
	}
	victim, key := firstOfLast, p.keys[firstOfLast]
	var before uint64
	for what, start := range map[string]func() (engine.Request, error){
		"get":          func() (engine.Request, error) { return p.Get(key, slotsAt, make([]byte, large)) },
		"put":          func() (engine.Request, error) { return p.Put(key, slotsAt, make([]byte, large)) },
		"fetch-add":    func() (engine.Request, error) { return p.FetchAdd(key, counterAt, 1, &before) },
		"compare-swap": func() (engine.Request, error) { return p.CompareSwap(key, roundsAt, 0, 1, &before) },
		"invoke": func() (engine.Request, error) {
			return p.Invoke(make([]byte, large), engine.Envelope{Peer: int32(victim)})
		},
	} {
		for { // before it dies, operations are answered
			r, err := start()
			if err == nil {
				_, err = r.Wait()
			}
			if errors.Is(err, engine.ErrPeerGone) {
				if name := fmt.Sprintf("rank %d is gone: ", victim); !bytes.Contains([]byte(err.Error()), []byte(name)) {
					return fmt.Errorf("%s: %w: want %q", what, err, name)
				}
				break
			}
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
	}
	p.size = firstOfLast
	if p.Rank() == 0 {
		fmt.Printf("rank %d is gone, as all operations say\n", victim)
	}
	return p.meet(p.size)
}

// add counts on each rank: no addition is lost.
func (p *player) add() error {
	for i := range adds {
		for rank := range p.size {
			var before uint64
			r, err := p.FetchAdd(p.keys[rank], counterAt, 1, &before)
			if err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
			if before < uint64(i) || before >= uint64(adds*p.size) {
				return fmt.Errorf("addition %d to the counter of rank %d finds %d", i, rank, before)
			}
		}
	}
	if err := p.meet(p.size); err != nil {
		return err
	}
	for rank := range p.size {
		total := uint64(0)
		r, err := p.FetchAdd(p.keys[rank], counterAt, 0, &total)
		if err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return err
		}
		if want := uint64(adds * p.size); total != want {
			return fmt.Errorf("the counter of rank %d is %d, not %d", rank, total, want)
		}
	}
	return p.meet(p.size)
}

// compete has all ranks try to be the first to write a word, and tell rank 0 who was.
func (p *player) compete() error {
	self := uint64(p.Rank() + 1)
	for round := range rounds {
		before := uint64(0)
		r, err := p.CompareSwap(p.keys[round%p.size], roundsAt+8*round, 0, self, &before)
		if err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return err
		}
		winner := before
		if before == 0 {
			winner = self | 1<<32 // it says so itself
		}
		said := binary.LittleEndian.AppendUint64(nil, winner)
		sent, err := p.Invoke(said, engine.Envelope{Context: uint32(round), Peer: 0, Tag: handlerRound})
		if err != nil {
			return err
		}
		if _, err := sent.Wait(); err != nil {
			return err
		}
	}
	if p.Rank() == 0 {
		if err := p.Await(func() bool { return p.answers.Load() >= int64(rounds*p.size) }); err != nil {
			return err
		}
		for round, winners := range p.seen {
			if err := p.oneWinner(winners); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
	}
	return p.meet(p.size)
}

// oneWinner checks that one rank has won a round, and that all others know it.
func (p *player) oneWinner(winners map[uint64]int) error {
	for winner := range p.size {
		self := uint64(winner + 1)
		if winners[self|1<<32] == 1 && winners[self] == p.size-1 {
			return nil
		}
	}
	return fmt.Errorf("there is not one winner: %v", winners)
}
