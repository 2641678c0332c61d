// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// The test binary is a proxy that sends its frames back when it is called as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == ProxyArg {
		in := channel.Buffered(os.Stdin)
		if _, err := Obey(in, os.Stdout); err == nil {
			_, _ = io.Copy(os.Stdout, in)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// patience is how long a test waits for an event.
const patience = 30 * time.Second

// heard collects what children say.
type heard struct {
	mu     sync.Mutex
	frames []channel.Frame
	losses []channel.Loss
	lost   chan struct{}
}

func (h *heard) Frame(_ *Child, frame channel.Frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.frames = append(h.frames, frame)
}

func (h *heard) Lost(_ *Child, loss channel.Loss) {
	h.mu.Lock()
	h.losses = append(h.losses, loss)
	h.mu.Unlock()
	h.lost <- struct{}{}
}

// silence is the limit of the children's silence.
var silence time.Duration

// startChild starts a child by a script that stands for ssh: its last argument is the command.
func startChild(t *testing.T, script string, limit time.Duration) (*heard, *Children) {
	t.Helper()
	testsupport.NothingLeft(t)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the proxy is this program
	ssh := filepath.Join(t.TempDir(), "ssh")
	require.NoError(t, os.WriteFile(ssh, []byte("#!/bin/bash\n"+script), 0o700))
	opts := Options{Exec: ssh, Limit: limit, Silence: silence}
	launcher, err := New(opts)
	require.NoError(t, err)
	h := &heard{lost: make(chan struct{}, 9)}
	children := NewChildren(launcher, NewSecret(), opts, h)
	child := children.Add(Branch{Host: Host{ID: 3, Name: "far"}}, 1)
	child.Trunk.Conn(3).Send(channel.Signal, 5, []byte("kept until it answers"))
	child.Start()
	return h, children
}

func (h *heard) awaitLoss(t *testing.T) channel.Loss {
	t.Helper()
	select {
	case <-h.lost:
	case <-time.After(patience):
		t.Fatal("the child does not end")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.losses[0]
}

func TestChild(t *testing.T) {
	h, children := startChild(t, `echo "from a start-up file"; echo banner >&2; printf "no newline"; eval "${@: -1}"`, 0)
	require.Eventually(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.frames) == 1 }, patience, time.Millisecond)
	assert.Equal(t, channel.Frame{Kind: channel.Signal, Proxy: 3, Index: 5, Body: []byte("kept until it answers")}, h.frames[0])
	children.Stop()
	assert.True(t, h.awaitLoss(t).Began)
}

func TestChildThatFails(t *testing.T) {
	for name, tt := range map[string]struct {
		script, want string
		limit        time.Duration
	}{
		"refused":  {"echo 'ssh: connect to host far port 22: Connection refused' >&2; exit 255", "host far: ssh: connect to host far port 22: Connection refused (ssh ended with 255)", 0},
		"chatter":  {"echo welcome; exit 1", `host far: printed "welcome" (ssh ended with 1)`, 0},
		"nothing":  {"exit 0", "host far: ended before a proxy answered", 0},
		"no shell": {"read order; echo '+tpsl-proxy devel 00ff'; sleep 60", "host far: what answers does not know the job's secret", 0},
		"hangs":    {"exec sleep 60", "host far: no answer within 500ms; HYDRA_LAUNCH_TIMEOUT may say more", 500 * time.Millisecond},
		"killed":   {"kill -9 $$", "host far: ssh was killed by SIGKILL", 0},
	} {
		t.Run(name, func(t *testing.T) {
			h, children := startChild(t, tt.script, tt.limit)
			assert.Equal(t, channel.Loss{Proxies: []int{3}, Text: tt.want}, h.awaitLoss(t))
			assert.Empty(t, h.frames)
			children.Stop()
		})
	}
}

// The error about a launcher that hangs contains what it has written.
func TestChildThatHangs(t *testing.T) {
	var text string
	for _, limit := range []time.Duration{500 * time.Millisecond, 5 * time.Second, 20 * time.Second} {
		h, children := startChild(t, "echo trying >&2; exec sleep 60", limit)
		text = h.awaitLoss(t).Text
		children.Stop()
		if strings.Contains(text, "trying") {
			break // it had the time to say so
		}
	}
	assert.Regexp(t, `^host far: trying \(no answer within [0-9m]+s; HYDRA_LAUNCH_TIMEOUT may say more\)$`, text)
}

// A process that does not know the secret gets only the order.
func TestNothingBeforeTheProof(t *testing.T) {
	got := filepath.Join(t.TempDir(), "got")
	h, children := startChild(t, "trap '' TERM; cat >"+got, 0)
	var text []byte
	require.Eventually(t, func() bool { text, _ = os.ReadFile(got); return bytes.HasSuffix(text, []byte("\n")) }, patience, time.Millisecond)
	time.Sleep(200 * time.Millisecond) // nothing more must come
	children.Stop()
	h.awaitLoss(t)
	text, err := os.ReadFile(got)
	require.NoError(t, err)
	assert.Regexp(t, `^tpsl-job [0-9a-f]{64} 3 10s login=[0-9a-f.:,]*\n$`, string(text))
}

func TestChildThatDies(t *testing.T) {
	h, children := startChild(t, `(eval "${@: -1}"); echo "Connection to far closed by remote host." >&2; exit 255`, 0)
	require.Eventually(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.frames) == 1 }, patience, time.Millisecond)
	children.Stop()
	assert.Equal(t, channel.Loss{Proxies: []int{3}, Began: true, Text: "Connection to far closed by remote host. (ssh ended with 255)"}, h.awaitLoss(t))
}

// When the job ends, a launch that is under way ends immediately.
func TestStopWhileLaunching(t *testing.T) {
	took := time.Hour
	for try := 0; try < 3 && took > stopLimit/2; try++ {
		h, children := startChild(t, "exec sleep 60", 0)
		began := time.Now()
		time.Sleep(50 * time.Millisecond)
		children.Stop()
		took = min(took, time.Since(began))
		assert.False(t, h.awaitLoss(t).Began)
	}
	assert.Less(t, took, stopLimit/2)
}

// A proxy that sends nothing counts as dead. A proxy that sends only beats does not.
func TestSilence(t *testing.T) {
	silence = 300 * time.Millisecond
	t.Cleanup(func() { silence = 0 })
	h, children := startChild(t, `eval "${@: -1}"`, 0) // sends its frame back, then nothing
	assert.Equal(t, "nothing was heard from it for 300ms", h.awaitLoss(t).Text)
	children.Stop()
}

// A proxy may only send frames for itself and for the proxies below it. A frame with another number neither ends nor crashes the
// receiver.
func TestChildThatSpeaksForOthers(t *testing.T) {
	h, children := startChild(t, `eval "${@: -1}"`, 0)
	children.all[0].Trunk.Conn(4).Send(channel.BarrierIn, 0, nil) // it is sent back
	assert.Contains(t, h.awaitLoss(t).Text, "it speaks for proxy 4, which is not below it")
	children.Stop()
	for _, frame := range h.frames {
		assert.Equal(t, 3, frame.Proxy)
	}
}
