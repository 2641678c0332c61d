// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// load is testdata/load.c, waiting.
type load struct {
	pid    int
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

func startLoad(t *testing.T) *load {
	t.Helper()
	file := filepath.Join(t.TempDir(), "load")
	out, err := exec.Command("gcc", "-O1", "-pthread", "testdata/load.c", "-o", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(file)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close()
		assert.NoError(t, cmd.Wait())
	})
	return &load{cmd.Process.Pid, stdin, bufio.NewReader(stdout)}
}

// run lets the program do its work and returns what getrusage told it.
func (l *load) run(t *testing.T) (pages, faults, voluntary, involuntary uint64) {
	t.Helper()
	_, err := l.stdin.Write([]byte("\n"))
	require.NoError(t, err)
	_, err = fmt.Fscan(l.stdout, &pages, &faults, &voluntary, &involuntary)
	require.NoError(t, err)
	return pages, faults, voluntary, involuntary
}

func TestKernel(t *testing.T) {
	l := startLoad(t)
	kernel, err := Start()
	require.NoError(t, err)
	require.Empty(t, kernel.Absent())
	require.NoError(t, kernel.Follow(Thread{l.pid, 7}))
	pages, faults, voluntary, involuntary := l.run(t)
	s, err := kernel.Read()
	require.NoError(t, err)
	require.NoError(t, kernel.Close())
	t.Log(s, pages, faults, voluntary, involuntary)

	c := s.Owners[7]
	assert.InEpsilon(t, faults, c[Faults], 0.01)
	assert.InEpsilon(t, voluntary, c[Voluntary], 0.01)
	assert.InDelta(t, involuntary, c[Involuntary], 0.01*float64(voluntary))
}
