// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// perf is perf(1), counting.
type perf struct {
	t    *testing.T
	cmd  *exec.Cmd
	file string
}

// startPerf returns when perf counts what a process does.
func startPerf(t *testing.T, pid int) perf {
	t.Helper()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	require.NoError(t, unix.Mkfifo(path("control"), 0o600))
	require.NoError(t, unix.Mkfifo(path("answer"), 0o600))
	p := perf{t, exec.Command("perf", "stat", "-x", ",", "-o", path("counts"), "-e", "page-faults,context-switches,cpu-migrations",
		"-D", "-1", "--control", "fifo:"+path("control")+","+path("answer"), "-p", fmt.Sprint(pid)), path("counts")}
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	control, err := os.OpenFile(path("control"), os.O_WRONLY, 0)
	require.NoError(t, err)
	defer control.Close()
	answer, err := os.Open(path("answer"))
	require.NoError(t, err)
	defer answer.Close()
	_, err = control.WriteString("enable\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(answer).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ack\n", line)
	return p
}

// stop ends counting and returns the counts by event.
func (p perf) stop() map[string]uint64 {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(unix.SIGINT))
	_ = p.cmd.Wait() // it ends by the signal
	f, err := os.Open(p.file)
	require.NoError(p.t, err)
	defer f.Close()
	lines := csv.NewReader(f)
	lines.Comment = '#'
	records, err := lines.ReadAll()
	require.NoError(p.t, err)
	counts := map[string]uint64{}
	for _, record := range records {
		counts[record[2]], err = strconv.ParseUint(record[0], 10, 64)
		require.NoError(p.t, err)
	}
	return counts
}
