// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"slices"
	"sync"
)

// An Entry is one put: a key and its value in a named key-value space.
type Entry struct {
	Space, Key, Value string
}

// kvs holds the key-value spaces of one host.
type kvs struct {
	mu     sync.RWMutex
	spaces map[string]map[string]string
}

func newKVS(name string) *kvs {
	return &kvs{spaces: map[string]map[string]string{name: {}}}
}

func (k *kvs) create(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.spaces[name] == nil {
		k.spaces[name] = map[string]string{}
	}
}

func (k *kvs) destroy(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, found := k.spaces[name]
	delete(k.spaces, name)
	return found
}

// put stores an entry and reports whether its space exists. A second put of a key replaces the first.
func (k *kvs) put(e Entry) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	space, found := k.spaces[e.Space]
	if found {
		space[e.Key] = e.Value
	}
	return found
}

func (k *kvs) get(space, key string) (string, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	value, found := k.spaces[space][key]
	return value, found
}

// at returns the entry at index idx in the order of keys.
func (k *kvs) at(space string, idx int) (Entry, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	keys := make([]string, 0, len(k.spaces[space]))
	for key := range k.spaces[space] {
		keys = append(keys, key)
	}
	if idx < 0 || idx >= len(keys) {
		return Entry{}, false
	}
	slices.Sort(keys)
	return Entry{space, keys[idx], k.spaces[space][keys[idx]]}, true
}

// merge stores what other hosts put, in spaces made on demand.
func (k *kvs) merge(entries []Entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range entries {
		if k.spaces[e.Space] == nil {
			k.spaces[e.Space] = map[string]string{}
		}
		k.spaces[e.Space][e.Key] = e.Value
	}
}
