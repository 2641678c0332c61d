// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// Errors of the name service.
var (
	ErrPublished    = errors.New("key_already_present")
	ErrNotPublished = errors.New("service_not_found")
	errNamesFull    = errors.New("too_many_names")
)

// maxNames bounds the bytes of all services and ports, so that a runaway rank cannot exhaust mpiexec.
const maxNames = 64 << 20

// Names is the name service of a job: services and the ports under which they are reached. The zero value is empty.
type Names struct {
	mu      sync.Mutex
	ports   map[string]published
	bytes   int                  // of all of them
	waiting map[string][]*waiter // by service, the longest waiting first
}

type published struct {
	port string
	once bool // it goes with its first lookup
}

// A waiter is told of a service once.
type waiter struct {
	found func(port string, err error)
	limit *time.Timer
}

// Publish enters a service, or returns ErrPublished. With once the first lookup takes it out again.
func (n *Names) Publish(service, port string, once bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, found := n.ports[service]; found {
		return ErrPublished
	}
	size := len(service) + len(port)
	if n.bytes+size > maxNames {
		return errNamesFull
	}
	if n.ports == nil {
		n.ports, n.waiting = map[string]published{}, map[string][]*waiter{}
	}
	n.ports[service] = published{port, once}
	n.bytes += size
	for len(n.waiting[service]) > 0 {
		port, err := n.lookup(service)
		if err != nil {
			return nil // taken by the first one
		}
		first := n.waiting[service][0]
		n.forget(service, first)
		first.found(port, nil)
	}
	return nil
}

// Lookup returns the port of a service, or ErrNotPublished.
func (n *Names) Lookup(service string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lookup(service)
}

func (n *Names) lookup(service string) (string, error) {
	entry, found := n.ports[service]
	if !found {
		return "", ErrNotPublished
	}
	if entry.once {
		n.remove(service)
	}
	return entry.port, nil
}

func (n *Names) remove(service string) {
	n.bytes -= len(service) + len(n.ports[service].port)
	delete(n.ports, service)
}

// Await calls found with the port of a service, as soon as it is published, or with ErrNotPublished after the limit. found
// must not block, nor use n.
func (n *Names) Await(service string, limit time.Duration, found func(port string, err error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if port, err := n.lookup(service); err == nil {
		found(port, nil)
		return
	}
	if n.waiting == nil {
		n.ports, n.waiting = map[string]published{}, map[string][]*waiter{}
	}
	w := &waiter{found: found}
	n.waiting[service] = append(n.waiting[service], w)
	w.limit = time.AfterFunc(limit, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.forget(service, w) {
			w.found("", ErrNotPublished)
		}
	})
}

// forget reports whether the waiter was still to be told. Preconditions: n.mu is held.
func (n *Names) forget(service string, w *waiter) bool {
	w.limit.Stop()
	before := len(n.waiting[service])
	n.waiting[service] = slices.DeleteFunc(n.waiting[service], func(other *waiter) bool { return other == w })
	after := len(n.waiting[service])
	if after == 0 {
		delete(n.waiting, service)
	}
	return after < before
}

// Unpublish removes a service, or returns ErrNotPublished.
func (n *Names) Unpublish(service string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, found := n.ports[service]; !found {
		return ErrNotPublished
	}
	n.remove(service)
	return nil
}
