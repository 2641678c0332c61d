// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
)

// A signal that comes before a rank has started still reaches the rank.
func TestEarlySignal(t *testing.T) {
	p := &proxy{byPID: map[int]*process{}}
	p.signalAll(unix.SIGTERM)
	proc := newProcess(plan.RankSet{Ranks: []int{0}}, 0)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer null.Close()
	fd := int(null.Fd())
	sleep := start{path: "/bin/sleep", args: []string{"sleep", "60"}, dir: "/"}
	require.NoError(t, onLaunchThread(func() error { return p.fork(proc, sleep, &descriptors.Set{Process: []int{fd, fd, fd}}) }))
	var status unix.WaitStatus
	_, err = unix.Wait4(proc.pid, &status, 0, nil)
	require.NoError(t, err)
	assert.Equal(t, unix.SIGTERM, status.Signal())
	p.startedAll()
	p.signalAll(unix.SIGUSR1)
	assert.Empty(t, p.early, "kept though nobody is to start any more")
}
