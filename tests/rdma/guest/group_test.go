// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const limit = time.Minute

// run is Run with a time limit, for what must succeed.
func run(t *testing.T, g *Group, env []string, argv ...string) Result {
	t.Helper()
	ctx, cancel := testsupport.WithLimit(t.Context(), limit)
	defer cancel()
	r, err := g.Run(ctx, 0, env, argv...)
	require.NoError(t, err)
	return r
}

func TestGroup(t *testing.T) {
	testsupport.Require(t, "qemu-system-x86_64", "busybox", "xz", "apt-get", "dpkg", "rdma", "sshd")
	testsupport.NothingLeft(t)
	testsupport.Limit(t, 5*time.Minute) // to boot, where many others use the processors
	g, err := Start(t.Context(), Options{Guests: 1, Rails: 2})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, g.Stop())
		assert.NoDirExists(t, g.dir)
	})
	t.Run("result", func(t *testing.T) { resultComesBack(t, g) })
	t.Run("devices", func(t *testing.T) {
		r := run(t, g, nil, "rdma", "link")
		assert.Regexp(t, `^link rxe0/1 state ACTIVE .* netdev eth0 \nlink rxe1/1 state ACTIVE .* netdev eth1 \n$`, r.Stdout)
		assert.Equal(t, "unlimited\n", run(t, g, nil, "sh", "-c", "ulimit -l").Stdout)
		assert.Equal(t, "a\n", run(t, g, nil, "ssh", "a", "hostname").Stdout)
	})
	t.Run("files", func(t *testing.T) { filesAreTheHosts(t, g) })
	t.Run("several at once", func(t *testing.T) { severalAtOnce(t, g) })
	t.Run("time limit", func(t *testing.T) { limitEndsAll(t, g) })
	t.Run("apart", func(t *testing.T) { apart(t, g) })
	t.Run("killed", func(t *testing.T) { killedGuest(t, g) })
}

func resultComesBack(t *testing.T, g *Group) {
	r := run(t, g, []string{"WORD=it's $HOME"}, "sh", "-c", `printf '%s' "$WORD" "$1" >&2; seq 100000; cat; exit 7`, "sh", "a\nb")
	assert.Equal(t, 7, r.Code)
	assert.Equal(t, "it's $HOMEa\nb", r.Stderr)
	lines := strings.Split(r.Stdout, "\n")
	require.Len(t, lines, 100001)
	assert.Equal(t, "100000", lines[99999])
	assert.Equal(t, 128+9, run(t, g, nil, "sh", "-c", "kill -9 $$").Code)
	r = run(t, g, nil, "no-such-program")
	assert.Equal(t, 127, r.Code)
	assert.Contains(t, r.Stderr, "no-such-program")
}

// A guest sees this machine's files; what it writes stays there.
func filesAreTheHosts(t *testing.T, g *Group) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new"), []byte("made while it runs"), 0o666))
	t.Chdir(dir)
	r := run(t, g, nil, "sh", "-c", "cat new && echo changed >new && echo x >made && touch /etc/tpsl-guest /usr/bin/tpsl-guest && cat new")
	assert.Zero(t, r.Code, r.Stderr)
	assert.Equal(t, "made while it runschanged\n", r.Stdout)
	assert.NoFileExists(t, "/etc/tpsl-guest")
	assert.NoFileExists(t, "made")
	content, err := os.ReadFile("new")
	require.NoError(t, err)
	assert.Equal(t, "made while it runs", string(content))
}

func severalAtOnce(t *testing.T, g *Group) {
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			// Each waits for the next one, so they must run together.
			script := fmt.Sprintf("mkfifo -m 600 /run/f%d 2>/dev/null; mkfifo /run/f%[2]d 2>/dev/null; echo %[1]d >/run/f%[1]d & cat /run/f%[2]d; wait; exit %[1]d", i, (i+1)%5)
			ctx, cancel := testsupport.WithLimit(t.Context(), limit)
			defer cancel()
			r, err := g.Run(ctx, 0, nil, "sh", "-c", script)
			assert.NoError(t, err)
			assert.Equal(t, Result{Stdout: fmt.Sprintln((i + 1) % 5), Code: i}, r)
		})
	}
	all.Wait()
}

// A command that is out of time is killed with all that it started, and what it has printed is there.
func limitEndsAll(t *testing.T, g *Group) {
	ctx, cancel := context.WithCancelCause(t.Context())
	output := filepath.Join(g.dir, strconv.FormatInt(g.runs.Load()+1, 10), "stdout")
	go func() {
		assert.Eventually(t, func() bool { text, _ := os.ReadFile(output); return string(text) == "started\n" }, limit, 10*time.Millisecond)
		cancel(testsupport.ErrTimeout)
	}()
	r, err := g.Run(ctx, 0, nil, "sh", "-c", "echo started; setsid sleep 1234 & sleep 1234")
	assert.ErrorIs(t, err, testsupport.ErrTimeout)
	assert.Equal(t, "started\n", r.Stdout)
	none, cancelNow := context.WithCancel(t.Context())
	cancelNow()
	_, err = g.Run(none, 0, nil, "sleep", "1234")
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 1, run(t, g, nil, "pgrep", "-f", "^sleep 1234").Code, "sleep runs on")
}

// When QEMU dies, who waits is told.
func killedGuest(t *testing.T, g *Group) {
	time.AfterFunc(time.Second, g.machines[0].kill)
	_, err := g.Run(t.Context(), 0, nil, "sleep", "1234")
	assert.ErrorContains(t, err, "sleep 1234: guest a is gone (qemu: signal: killed); ")
	_, err = g.Run(t.Context(), 0, nil, "true")
	assert.ErrorContains(t, err, "guest a is gone")
}
