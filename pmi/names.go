// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"sync"
)

// Errors of the name service.
var (
	ErrPublished    = errors.New("key_already_present")
	ErrNotPublished = errors.New("service_not_found")
)

// Names is the name service of a job: services and the ports under which they are reached. The zero value is empty.
type Names struct {
	mu    sync.Mutex
	ports map[string]string
}

// Publish enters a service, or returns ErrPublished.
func (n *Names) Publish(service, port string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, found := n.ports[service]; found {
		return ErrPublished
	}
	if n.ports == nil {
		n.ports = map[string]string{}
	}
	n.ports[service] = port
	return nil
}

// Lookup returns the port of a service, or ErrNotPublished.
func (n *Names) Lookup(service string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	port, found := n.ports[service]
	if !found {
		return "", ErrNotPublished
	}
	return port, nil
}

// Unpublish removes a service, or returns ErrNotPublished.
func (n *Names) Unpublish(service string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, found := n.ports[service]; !found {
		return ErrNotPublished
	}
	delete(n.ports, service)
	return nil
}
