// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package loop

import (
	"errors"
	"fmt"
	"time"

	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs/queue"
)

// A Loop is a connection of a device to itself.
type Loop struct {
	registrar   regcache.Registrar
	completions *queue.Completions
	receives    *queue.Receives
	from, to    *queue.Pair
	sink        []byte
	at          uint64 // the sink's address
	memory      regcache.Memory
}

// within is how long a completion may take.
const within = 10 * time.Second

// Open makes a loop by a port, for writes of up to size bytes. The registrar is its device.
func Open(port *queue.Port, registrar regcache.Registrar, localWrite regcache.Access, size int) (*Loop, error) {
	l := &Loop{registrar: registrar, sink: make([]byte, size)}
	sink := regcache.RangeOf(l.sink)
	l.at = sink.Start
	var err error
	if l.memory, err = registrar.Register(sink, localWrite); err != nil {
		return nil, fmt.Errorf("open loop: register the sink: %w", err)
	}
	if err := l.connect(port); err != nil {
		l.Close()
		return nil, fmt.Errorf("open loop: %w", err)
	}
	return l, nil
}

func (l *Loop) connect(port *queue.Port) (err error) {
	if l.completions, err = port.NewCompletions(4); err != nil {
		return err
	}
	if l.receives, err = port.NewReceives(1); err != nil {
		return err
	}
	if l.from, err = port.NewPair(l.completions, l.receives, 1); err != nil {
		return err
	}
	if l.to, err = port.NewPair(l.completions, l.receives, 1); err != nil {
		return err
	}
	return errors.Join(l.to.Connect(l.from.Address()), l.from.Connect(l.to.Address()))
}

// Write has the device read memory by its key, and returns what it read, until the next Write.
func (l *Loop) Write(start uint64, length int, key uint32) ([]byte, error) {
	clear(l.sink[:length])
	const came, sent = 1, 2
	if err := errors.Join(l.receives.Post(came, l.at, length, l.memory.Local), l.from.Send(sent, start, length, key)); err != nil {
		return nil, err
	}
	var done [2]queue.Completion
	for end, left := time.Now().Add(within), 2; left > 0; {
		n, err := l.completions.Poll(done[:])
		if err != nil {
			return nil, err
		}
		for _, c := range done[:n] {
			if c.Status != queue.Fine {
				return nil, fmt.Errorf("write %d bytes at %#x: %v", length, start, c.Status)
			}
		}
		left -= n
		if time.Now().After(end) {
			return nil, fmt.Errorf("write %d bytes at %#x: no completion within %v", length, start, within)
		}
		if n == 0 {
			time.Sleep(time.Microsecond) // an emulated device needs the processor
		}
	}
	return l.sink[:length], nil
}

// Close closes the loop.
func (l *Loop) Close() {
	if l.from != nil {
		l.from.Close()
	}
	if l.to != nil {
		l.to.Close()
	}
	if l.receives != nil {
		l.receives.Close()
	}
	if l.completions != nil {
		l.completions.Close()
	}
	l.registrar.Deregister(l.memory)
}
