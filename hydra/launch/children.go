// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"cmp"
	"io"
	"sync"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
)

const (
	// defaultLimit is how long a host may take to answer.
	defaultLimit = 60 * time.Second
	// defaultSilence is how long a proxy may send nothing. It sends a beat beatsPerSilence times in this time.
	defaultSilence  = 60 * time.Second
	beatsPerSilence = 6
	// stopLimit is how long a proxy may take to end after its channel was closed.
	stopLimit = 5 * time.Second
	// atOnce bounds the number of launches under way. Each of them may need a process and a connection.
	atOnce = 32
)

// Children are the proxies that this process has started.
type Children struct {
	launcher Launcher
	secret   Secret
	opts     Options
	events   Events
	slots    chan struct{}

	mu  sync.Mutex
	all []*Child
}

// Events receives what children send. Its methods are called from the child's goroutine.
type Events interface {
	// Frame came from the proxy that it names.
	Frame(*Child, channel.Frame)
	// Lost: the child's channel has ended, and so has what started it. Nothing more comes from it and all below it.
	Lost(*Child, channel.Loss)
}

// NewChildren returns an empty set of children.
func NewChildren(launcher Launcher, secret Secret, opts Options, events Events) *Children {
	opts.Limit = cmp.Or(opts.Limit, defaultLimit)
	opts.Silence = cmp.Or(opts.Silence, defaultSilence)
	return &Children{launcher: launcher, secret: secret, opts: opts, events: events, slots: make(chan struct{}, atOnce)}
}

// Add makes a child of the set, which Start starts. Frames for the child are kept until it has answered.
// size is that of the ranks' world.
func (set *Children) Add(branch Branch, size int) *Child {
	c := set.add(branch.Host, branch.IDs(), set.launcher)
	if len(branch.Below) > 0 {
		opts := set.opts
		opts.LocalName = ""
		c.Trunk.Put(growth{opts, branch, size}.frame())
	}
	return c
}

func (set *Children) add(host Host, ids []int, launcher Launcher) *Child {
	c := newChild(set, host, ids, launcher)
	set.mu.Lock()
	defer set.mu.Unlock()
	set.all = append(set.all, c)
	return c
}

// Expect tells a launcher that starts proxies together which proxies these are. Call it before their Start.
func (set *Children) Expect(hosts []Host) error {
	if e, together := set.launcher.(expecter); together {
		return e.Expect(hosts)
	}
	return nil
}

// beat is the interval at which children send a Beat.
func (set *Children) beat() time.Duration { return set.opts.Silence / beatsPerSilence }

// Abandon ends the children that have not answered yet.
func (set *Children) Abandon() {
	set.mu.Lock()
	defer set.mu.Unlock()
	for _, c := range set.all {
		c.abandon()
	}
}

// Stop closes all channels and waits until every child has ended. It kills a child that does not end. The launcher is closed then.
func (set *Children) Stop() {
	set.mu.Lock()
	all := set.all
	set.mu.Unlock()
	var stopping sync.WaitGroup
	for _, c := range all {
		stopping.Go(c.stop)
	}
	stopping.Wait()
	if launcher, closes := set.launcher.(io.Closer); closes {
		_ = launcher.Close() // what cannot be removed stays
	}
}
