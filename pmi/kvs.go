// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// An Entry is one put: a key and its value in a named key-value space.
type Entry struct {
	Space, Key, Value string
}

// kvs holds the key-value spaces of one host.
type kvs struct {
	mu      sync.RWMutex
	spaces  map[string]map[string]string
	secrets []string // values that a trace does not show
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
		k.noteSecret(e)
	}
	return found
}

// noteSecret looks whether a trace may show an entry. Preconditions: k.mu is held.
func (k *kvs) noteSecret(e Entry) {
	if strings.HasSuffix(e.Key, "secret") && e.Value != "" {
		k.secrets = append(k.secrets, e.Value)
	}
}

// putOfSecret matches a put of which the value is not stored yet.
var putOfSecret = regexp.MustCompile(`(secret[ ;]value=)[^ ;\n]*`)

// hide returns a message without the values of keys that end in "secret".
func (k *kvs) hide(message string) string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, s := range k.secrets {
		message = strings.ReplaceAll(message, s, "(hidden)")
	}
	return putOfSecret.ReplaceAllString(message, "$1(hidden)")
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
		k.noteSecret(e)
	}
}

// What a put may be refused for.
var (
	errNoKey       = errors.New("no_key")
	errReserved    = errors.New("reserved_key")
	errValueLength = errors.New("value_too_long")
	errFull        = errors.New("kvs_full")
	errNoSpace     = errors.New("kvsname_not_found")
)

// store makes a value visible on this host at once, and to the others after the next barrier.
func (s *session) store(m Message, space string, fits func(value string) bool) error {
	if err := s.allow(m, fits); err != nil {
		return err
	}
	e := Entry{space, m.Get("key"), m.Get("value")}
	if !s.server.kvs.put(e) {
		return errNoSpace
	}
	s.pending = append(s.pending, e)
	return nil
}

// allow checks what a rank wants to store, and counts it. A key may be empty: MPICH 4.0, when it begins a session late, puts
// what it had to put until then, under that key if that is nothing.
func (s *session) allow(m Message, fits func(value string) bool) error {
	key, given := m.Lookup("key")
	value := m.Get("value")
	switch {
	case !given:
		return errNoKey
	case strings.HasPrefix(key, reservedPrefix):
		return errReserved
	case len(key) >= maxRequest/2 || !fits(value):
		s.warn("long value", fmt.Sprintf("PMI value of key %s, %d bytes, does not fit a reply", quote(key), len(value)))
		return errValueLength
	case s.stored+len(key)+len(value) > maxPuts:
		s.warn("space", fmt.Sprintf("PMI puts exceed %d bytes", maxPuts))
		return errFull
	}
	s.stored += len(key) + len(value)
	return nil
}

// takePuts returns the puts that a barrier of the group passes on. Only that of the whole world brings them to every host;
// after another one they are still to come.
func (s *session) takePuts(g Group) []Entry {
	if g.Node {
		return nil
	}
	puts := s.pending
	if g.World {
		s.pending = nil
		return puts
	}
	return slices.Clone(puts)
}
