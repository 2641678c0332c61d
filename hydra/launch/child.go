// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
)

// A Child is a proxy that this process has started.
type Child struct {
	Host  Host
	Trunk *channel.Trunk

	ids      []int // the proxies that the trunk leads to
	set      *Children
	launcher Launcher
	gate     *gate
	ended    chan struct{}

	mu      sync.Mutex
	kill    func() // nil while nothing runs
	stopped bool
}

func newChild(set *Children, host Host, ids []int, launcher Launcher) *Child {
	c := &Child{Host: host, ids: ids, set: set, launcher: launcher, gate: newGate(), ended: make(chan struct{})}
	c.Trunk = channel.New(c.gate, c.gate)
	return c
}

// Start starts the proxy. It does not wait.
func (c *Child) Start() { go c.run() }

func (c *Child) run() {
	defer close(c.ended)
	loss := channel.Loss{}
	remote, err := c.launch()
	if err != nil {
		loss.Text = err.Error()
	} else {
		loss = channel.Loss{Began: true, Text: c.serve(remote)}
	}
	c.Trunk.Close()
	c.gate.shut()
	loss.Proxies = c.ids
	c.set.events.Lost(c, loss)
}

// serve passes on what the proxy says until its channel ends, and returns why it did.
func (c *Child) serve(remote Remote) string {
	var heard, silent atomic.Bool
	over := make(chan struct{})
	go c.listen(&heard, over, func() { silent.Store(true); remote.Kill() })
	for {
		frame, err := c.receive()
		if err == nil {
			heard.Store(true)
			if frame.Kind != channel.Beat {
				c.set.events.Frame(c, frame)
			}
			continue
		}
		close(over)
		c.Trunk.Close()
		if isGarbled(err) {
			remote.Kill() // it may be blocked while it writes, because nobody reads its output
		}
		defer time.AfterFunc(stopLimit, remote.Kill).Stop()
		if end := remote.Wait(); end != nil && !isGarbled(err) {
			err = end
		}
		if silent.Load() {
			err = fmt.Errorf("nothing was heard from it for %v", c.set.opts.Silence)
		}
		return withStderr(remote.Stderr.String(), err.Error())
	}
}

// isGarbled reports whether a channel was given up because of a frame that cannot be read. The channel itself has not ended.
func isGarbled(err error) bool {
	return !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, fs.ErrClosed)
}

// receive returns the next frame. It refuses frames of a proxy that the trunk does not lead to, because the callers trust the number
// of the proxy.
func (c *Child) receive() (channel.Frame, error) {
	frame, err := c.Trunk.Receive()
	if err == nil && frame.Kind != channel.Beat && !slices.Contains(c.ids, frame.Proxy) {
		err = fmt.Errorf("it speaks for proxy %d, which is not below it", frame.Proxy)
	}
	return frame, err
}

// listen calls silent when the child has sent nothing for some beats. It counts its own ticks and not time, because a stopped
// process receives nothing, and has no ticks either.
func (c *Child) listen(heard *atomic.Bool, over <-chan struct{}, silent func()) {
	ticks := time.NewTicker(c.set.beat())
	defer ticks.Stop()
	for missed := 0; missed < beatsPerSilence; missed++ {
		select {
		case <-ticks.C:
		case <-over:
			return
		}
		if heard.Swap(false) {
			missed = -1
		}
	}
	silent()
}

// launch starts the proxy and opens the gate when it has answered.
func (c *Child) launch() (Remote, error) {
	c.set.slots <- struct{}{}
	defer func() { <-c.set.slots }()
	remote, err := c.begin()
	if err != nil {
		return remote, err
	}
	var late atomic.Bool
	timer := time.AfterFunc(c.set.opts.Limit, func() { late.Store(true); remote.Kill() })
	in := channel.Buffered(remote.Out)
	_, _ = io.WriteString(remote.In, c.set.secret.order(c.Host.ID, c.set.beat(), login())) // a child that does not read it does not answer
	chatter, err := c.set.secret.greet(in, c.Host.ID)
	timer.Stop()
	if late.Load() {
		err = fmt.Errorf("no answer within %v; HYDRA_LAUNCH_TIMEOUT may say more", c.set.opts.Limit)
	}
	if err != nil {
		return remote, c.failed(remote, chatter, err)
	}
	remote.Stderr.live()
	c.gate.open(in, remote.In)
	return remote, nil
}

// failed ends what was started and says why the host has no proxy.
func (c *Child) failed(remote Remote, chatter []byte, err error) error {
	gone := errors.Is(err, io.EOF)
	if !gone {
		remote.Kill()
	}
	defer time.AfterFunc(stopLimit, remote.Kill).Stop()
	end := remote.Wait()
	switch {
	case gone && end != nil:
		err = end
	case gone:
		err = errors.New("ended before a proxy answered")
	}
	said := remote.Stderr.String()
	if said == "" && len(chatter) > 0 {
		said = "printed " + strconv.Quote(oneLine(chatter[max(0, len(chatter)-maxTail):]))
	}
	return fmt.Errorf("host %s: %s", c.Host.Name, withStderr(said, err.Error()))
}

// withStderr puts the launcher's own error message before ours.
func withStderr(said, ours string) string {
	if said == "" {
		return ours
	}
	return fmt.Sprintf("%s (%s)", said, ours)
}

var errStopped = errors.New("the job is ending")

// begin runs the launcher, unless the child was stopped before.
func (c *Child) begin() (remote Remote, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return remote, errStopped
	}
	if remote, err = c.launcher.Start(c.Host); err == nil {
		c.kill = remote.Kill
	}
	return remote, err
}

// stop closes the channel and waits for the proxy's end.
func (c *Child) stop() {
	c.Trunk.Close()
	c.abandon()
	c.mu.Lock()
	kill := c.kill
	c.mu.Unlock()
	if kill != nil {
		defer time.AfterFunc(stopLimit, kill).Stop()
	}
	<-c.ended
}

// abandon ends a child that has not answered yet.
func (c *Child) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gate.isOpen() {
		return
	}
	c.stopped = true
	if c.kill != nil {
		c.kill()
	}
}
