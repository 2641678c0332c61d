// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stacks

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func TestParse(t *testing.T) {
	found := parse(`[New LWP 12]

Thread 2 (Thread 0x7f12 (LWP 12) "ranks"):
#0  0x00007f5ab2 in poll () from /lib/libc.so.6
#1  wait_for (n=..., set=...) at wait.c:7
(More stack frames follow...)

Thread 1 (LWP 11):
#0  operator new (size=...)
    at new.cc:3
#1  main () at x.c:1
[Inferior 1 (process 11) detached]
`)
	assert.Equal(t, map[int][]string{12: {"poll () from /lib/libc.so.6", "wait_for (n=..., set=...) at wait.c:7"}, 11: {"operator new (size=...)", "main () at x.c:1"}}, found)
	assert.Empty(t, parse("#0 main ()\nThread x\n"))
}

func TestOutsideMPI(t *testing.T) {
	call := []string{"PMPI_Recv () from /lib/libmpich.so.12", "main () at x.c:1"}
	assert.Equal(t, call, outsideMPI(append([]string{"?? () from /lib/libuct.so.0", "?? () from /lib/libmpich.so.12"}, call...)))
	for _, all := range [][]string{append([]string{"add (a=..., b=...) at x.c:7", "?? () from /lib/libmpich.so.12"}, call...), {"main () at x.c:1"}, nil} {
		assert.Equal(t, all, outsideMPI(all))
	}
}

func TestRead(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "gdb")
	child := exec.Command("sleep", "1000")
	require.NoError(t, child.Start())
	pid, sleeps := child.Process.Pid, strconv.Itoa(unix.SYS_CLOCK_NANOSLEEP)+" "
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	require.Eventually(t, func() bool {
		call, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
		return strings.HasPrefix(string(call), sleeps)
	}, time.Minute, time.Millisecond)
	own, other, ended := Thread{pid, pid}, Thread{pid, 1}, Thread{1 << 30, 1 << 30}
	all := Read(t.Context(), []Thread{own, other, ended})
	assert.Empty(t, all[own].Error)
	require.NotEmpty(t, all[own].Frames)
	assert.Contains(t, all[own].Frames[0], "nanosleep")
	assert.Equal(t, Stack{Error: errGone.Error()}, all[other])
	assert.Equal(t, Stack{Error: errGone.Error()}, all[ended])

	over, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, Stack{Error: errTooLong.Error()}, Read(over, []Thread{own})[own])
	t.Setenv("PATH", t.TempDir())
	assert.Equal(t, Stack{Error: "gdb is not installed"}, Read(t.Context(), []Thread{own})[own])
}

func FuzzParse(f *testing.F) {
	f.Add("Thread 1 (LWP 1):\n#0  0x12 in main ()\n")
	f.Fuzz(func(t *testing.T, said string) {
		for thread, frames := range parse(said) {
			assert.Positive(t, thread)
			assert.LessOrEqual(t, len(frames), mostFrames)
		}
	})
}
