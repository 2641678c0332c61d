// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpslmsg

// #include "tpslmsg.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tpsl/tpsl/endpoints/engine"
)

// A port is one of the engine's, with what has ended on it and nobody has taken.
type port struct {
	work    *work
	engine  *engine.Port
	shared  bool
	users   atomic.Int32      // threads in calls
	into    engine.Completion // the end of each operation
	regions map[engine.Key]*engine.Region
	lock    sync.Mutex // regions, ended, taken
	ended   []C.struct_tpslmsg_completion
	taken   int // so many of them, from the first on
}

func newPort(w *work, e *engine.Port, shared bool) *port {
	p := &port{work: w, engine: e, shared: shared, regions: map[engine.Key]*engine.Region{}}
	p.into = engine.EndHandler(func(_ *engine.Port, e engine.End) {
		p.keep(C.struct_tpslmsg_completion{
			cookie: C.uint64_t(e.Cookie), error: C.int32_t(codeOf(e.Err)), peer: C.int32_t(e.Peer), tag: C.int32_t(e.Tag),
			context: C.uint32_t(e.Context), bytes: C.uint64_t(e.Bytes),
		})
	})
	return p
}

// signalled is the handler that a put with signal runs.
func (w *work) signalled(e *engine.Port, from engine.Envelope, _ []byte) {
	w.ports[e.Rank()-w.job.First].keep(C.struct_tpslmsg_completion{signal: 1, peer: C.int32_t(from.Peer), context: C.uint32_t(from.Context)})
}

// call begins a call of the port with a number; leave ends it.
func call(number uint64) (*port, error) {
	p, err := ports.find(number)
	if err != nil {
		return nil, err
	}
	if p.shared {
		p.users.Add(1)
	} else if !p.users.CompareAndSwap(0, 1) {
		return nil, refusal{isBusy, fmt.Sprintf("port %d: another thread is in a call of it: set options.shared, or take turns", p.engine.Rank())}
	}
	if p.work.ends.Load() {
		p.leave()
		return nil, p.ending()
	}
	return p, nil
}

func (p *port) ending() error {
	return refusal{isClosed, fmt.Sprintf("port %d: its job ends", p.engine.Rank())}
}

func (p *port) leave() { p.users.Add(-1) }

// keep keeps a completion until it is taken.
func (p *port) keep(c C.struct_tpslmsg_completion) {
	p.lock.Lock()
	p.ended = append(p.ended, c)
	p.lock.Unlock()
}

// take takes completions, those first that came first, and returns how many.
func (p *port) take(to []C.struct_tpslmsg_completion) int {
	p.lock.Lock()
	defer p.lock.Unlock()
	n := copy(to, p.ended[p.taken:])
	p.taken += n
	if 2*p.taken >= len(p.ended) { // what is moved is less than what was taken
		p.ended = p.ended[:copy(p.ended, p.ended[p.taken:])]
		p.taken = 0
	}
	return n
}

// vainPolls is how often a port is polled in vain before its caller in C looks at the clock, and then lets others run. If something moves,
// the caller looks at the clock after as many polls.
const vainPolls = 200

// reap makes progress and takes completions: at least so many, if they come within so many vain polls and vainPolls in all. It tells
// whether the vain ones are used up.
func (p *port) reap(to []C.struct_tpslmsg_completion, least, polls int) (have int, vain bool) {
	for rounds := 0; rounds < vainPolls && polls > 0 && !p.work.ends.Load(); rounds++ {
		moved := p.engine.Progress()
		have += p.take(to[have:])
		if have >= least {
			break
		}
		if !moved {
			polls--
		}
	}
	return have, polls == 0
}

// post starts operations, and returns how many before the first that is wrong, and what is.
func (p *port) post(ops []C.struct_tpslmsg_op) (int, error) {
	for i := range ops {
		if err := p.start(&ops[i]); err != nil {
			if codeOf(err) != invalid {
				return i, err
			}
			return i, refusal{invalid, fmt.Sprintf("operation %d: %v", i, err)}
		}
	}
	return len(ops), nil
}

func (p *port) start(o *C.struct_tpslmsg_op) error {
	buffer, err := memory(o.buffer, o.bytes)
	if err != nil && !(o.buffer == nil && isOfWord(o.kind)) {
		return err
	}
	into := p.engine.Into(p.into, uint64(o.cookie))
	envelope := engine.Envelope{Context: uint32(o.context), Peer: int32(o.peer), Tag: int32(o.tag)}
	switch o.kind {
	case C.TPSLMSG_SEND:
		return into.Send(buffer, envelope)
	case C.TPSLMSG_RECEIVE:
		return into.Recv(buffer, envelope)
	}
	if o.kind < C.TPSLMSG_PUT || o.kind > C.TPSLMSG_COMPARE_SWAP {
		return fmt.Errorf("its kind is %d: there are %d to %d", o.kind, C.TPSLMSG_SEND, C.TPSLMSG_COMPARE_SWAP)
	}
	if o.key == nil {
		return errors.New("it accesses a region: give its key")
	}
	if o.offset > math.MaxInt {
		return fmt.Errorf("its offset is %d bytes: no region has so many", uint64(o.offset))
	}
	key, offset := *(*engine.Key)(unsafe.Pointer(o.key)), int(o.offset)
	switch o.kind {
	case C.TPSLMSG_PUT:
		return into.Put(key, offset, buffer)
	case C.TPSLMSG_PUT_SIGNAL:
		return into.PutSignal(key, offset, buffer, 0, uint32(o.context))
	case C.TPSLMSG_GET:
		return into.Get(key, offset, buffer)
	}
	if o.bytes != 8 || uintptr(o.buffer)%8 != 0 {
		return errors.New("it changes a word: bytes is 8, and buffer is a multiple of 8, or NULL")
	}
	before := (*uint64)(o.buffer)
	if o.kind == C.TPSLMSG_FETCH_ADD {
		return into.FetchAdd(key, offset, uint64(o.operand), before)
	}
	return into.CompareSwap(key, offset, uint64(o.operand), uint64(o.replacement), before)
}

func isOfWord(kind C.int32_t) bool {
	return kind == C.TPSLMSG_FETCH_ADD || kind == C.TPSLMSG_COMPARE_SWAP
}

// memory returns a buffer of the program's.
func memory(at unsafe.Pointer, bytes C.size_t) ([]byte, error) {
	if uint64(bytes) > math.MaxInt || uintptr(at)+uintptr(bytes) < uintptr(at) {
		return nil, fmt.Errorf("a buffer of %d bytes: there is no such memory", uint64(bytes))
	}
	if at == nil && bytes > 0 {
		return nil, fmt.Errorf("a buffer of %d bytes at NULL: give its address", uint64(bytes))
	}
	return unsafe.Slice((*byte)(at), int(bytes)), nil
}

// register makes memory a region.
func (p *port) register(at unsafe.Pointer, bytes C.size_t, key *C.struct_tpslmsg_key) error {
	m, err := memory(at, bytes)
	if err != nil {
		return err
	}
	r, err := p.engine.Register(m)
	if err != nil {
		return err
	}
	k := r.Key()
	p.lock.Lock()
	p.regions[k] = r
	p.lock.Unlock()
	*(*engine.Key)(unsafe.Pointer(key)) = k
	return nil
}

// unregister ends a region.
func (p *port) unregister(key *C.struct_tpslmsg_key) error {
	k := *(*engine.Key)(unsafe.Pointer(key))
	p.lock.Lock()
	r := p.regions[k]
	delete(p.regions, k)
	p.lock.Unlock()
	if r == nil {
		return fmt.Errorf("port %d: %w", p.engine.Rank(), engine.ErrNoRegion)
	}
	return r.Free()
}
