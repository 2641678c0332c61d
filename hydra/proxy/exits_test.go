// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
)

// stopping is the environment variable that makes this test program one that stops while it waits for what is said on stdin.
const stopping = "TPSL_TEST_STOPPING"

func TestMain(m *testing.M) {
	if os.Getenv(stopping) != "" {
		read := make(chan struct{})
		go func() {
			_, _ = os.Stdin.Read(make([]byte, 1))
			fmt.Print("read ")
			close(read)
		}()
		time.AfterFunc(settle/4, func() { _ = unix.Kill(os.Getpid(), unix.SIGSTOP) })
		patient(read, settle)
		fmt.Print("settled ")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// What was said while this process was stopped is read, however long that was. One miss in five may be the scheduler's.
func TestPatienceCountsTicks(t *testing.T) {
	read := 0
	for range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), stopping+"=1", "GORACE=atexit_sleep_ms=0")
		in, w, err := os.Pipe()
		require.NoError(t, err)
		defer in.Close()
		defer w.Close()
		cmd.Stdin = in
		var out strings.Builder
		cmd.Stdout = &out
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		var status unix.WaitStatus
		_, err = unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil)
		require.NoError(t, err)
		if !status.Stopped() {
			continue
		}
		_, err = w.WriteString("x")
		require.NoError(t, err)
		time.Sleep(2 * settle)
		require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
		require.NoError(t, cmd.Wait())
		if out.String() == "read settled " {
			read++
		}
	}
	assert.GreaterOrEqual(t, read, 4)
}

// The process of a set, of which a rank has died, is killed if it does not end in time, and mpiexec is told.
func TestSetThatDoesNotEnd(t *testing.T) {
	r, w := io.Pipe()
	trunk := channel.New(bytes.NewReader(nil), w)
	t.Cleanup(trunk.Close)
	mpiexec := channel.New(r, discard{})
	p := &proxy{conn: trunk.Conn(0), byPID: map[int]*process{}}
	proc := newProcess(plan.RankSet{Ranks: []int{4, 5}}, 0)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer null.Close()
	fd := int(null.Fd())
	sleep := start{path: "/bin/sleep", args: []string{"sleep", "60"}, dir: "/"}
	require.NoError(t, onLaunchThread(func() error { return p.fork(proc, sleep, &descriptors.Set{Process: []int{fd, fd, fd}}) }))
	p.mu.Lock()
	p.endSet(proc, 5)
	p.mu.Unlock()
	frame, err := mpiexec.Receive()
	require.NoError(t, err)
	assert.Equal(t, channel.Warned, frame.Kind)
	assert.Equal(t, 6, frame.Index)
	assert.Contains(t, string(frame.Body), "did not end the ranks that share memory with it")
	var status unix.WaitStatus
	_, err = unix.Wait4(proc.pid, &status, 0, nil)
	require.NoError(t, err)
	assert.Equal(t, unix.SIGKILL, status.Signal())
}
