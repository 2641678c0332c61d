// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import "sync"

// attributes are what the ranks of one host tell each other by PMI-2.
type attributes struct {
	mu      sync.Mutex
	values  map[string]string
	waiting map[string][]func(value string, found bool)
	closed  bool
}

func newAttributes() *attributes {
	return &attributes{values: map[string]string{}, waiting: map[string][]func(string, bool){}}
}

func (a *attributes) put(key, value string) {
	a.mu.Lock()
	a.values[key] = value
	ready := a.waiting[key]
	delete(a.waiting, key)
	a.mu.Unlock()
	for _, answer := range ready {
		answer(value, true)
	}
}

func (a *attributes) get(key string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	value, found := a.values[key]
	return value, found
}

// await answers when the key has been put; not found means that the job has ended.
func (a *attributes) await(key string, answer func(value string, found bool)) {
	a.mu.Lock()
	value, found := a.values[key]
	if !found && !a.closed {
		a.waiting[key] = append(a.waiting[key], answer)
		a.mu.Unlock()
		return
	}
	a.mu.Unlock()
	answer(value, found)
}

func (a *attributes) close() {
	a.mu.Lock()
	waiting := a.waiting
	a.waiting, a.closed = nil, true
	a.mu.Unlock()
	for _, answers := range waiting {
		for _, answer := range answers {
			answer("", false)
		}
	}
}
