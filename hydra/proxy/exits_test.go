// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
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
		settled(read)
		fmt.Print("settled ")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// What was said while this process was stopped is read, however long that was. One miss in five may be the scheduler's.
func TestSettledCountsTicks(t *testing.T) {
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
		require.True(t, status.Stopped())
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
