// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The helper is killed as soon as it is there, and later and later. A job that has not ended by then ends with one line that
// names it, and leaves nothing.
func TestPMIxHelperKilled(t *testing.T) {
	testsupport.NothingLeft(t)
	needsPMIxHelper(t)
	program := openMPIProgram(t)
	ended := 0
	for _, delay := range []time.Duration{0, 3, 10, 30, 60, 100, 200, 300, 400} {
		folder := t.TempDir()
		var said bytes.Buffer
		job := exec.Command(built(t, "bin/mpiexec"), "-n", "2", program)
		job.Env = append(os.Environ(), "TMPDIR="+folder)
		job.Stderr = &said
		require.NoError(t, job.Start())
		over := make(chan struct{})
		go func() { _ = job.Wait(); close(over) }()
		timer := time.AfterFunc(limit, func() { _ = job.Process.Kill() })
		helper := 0
		for isOver := false; helper == 0 && !isOver; helper = helperOf(folder) { // the job may be over before we look
			select {
			case <-over:
				isOver = true
			case <-time.After(time.Millisecond):
			}
		}
		time.Sleep(delay * time.Millisecond) // any moment will do
		if helper > 0 {
			_ = unix.Kill(helper, unix.SIGKILL)
		}
		<-over
		require.True(t, timer.Stop(), "the job does not end")
		if code := job.ProcessState.ExitCode(); code != 0 {
			ended++
			assert.Equal(t, 255, code, said.String())
			lines := regexp.MustCompile(`(?m)^mpiexec: .*$`).FindAllString(said.String(), -1)
			require.Len(t, lines, 1, said.String())
			assert.Regexp(t, `^mpiexec: serve PMIx on .*: its helper lib/tpsl/pmix ended$`, lines[0])
		}
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Empty(t, left, "%v", delay)
	}
	assert.GreaterOrEqual(t, ended, 4, "the job is too short for its test")
}

// helperOf returns the helper whose files are below a folder, or 0.
func helperOf(folder string) int {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		line, _ := os.ReadFile(name)
		if words := strings.Split(string(line), "\x00"); strings.HasSuffix(words[0], "lib/tpsl/pmix") && strings.Contains(string(line), folder+"/") {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			return pid
		}
	}
	return 0
}

// A libpmix that is not the one of the build is told at the start.
func TestOtherLibpmix(t *testing.T) {
	for _, c := range []struct{ source, variable, soname, want string }{
		{"", "LD_LIBRARY_PATH", "libpmix.so.2", "its helper lib/tpsl/pmix ended: .*undefined symbol: PMIx_.*; it needs the package libpmix2"},
		{
			`const char *PMIx_Get_version(void) { return "OpenPMIx 3.1.5"; }`, "LD_PRELOAD", "fake.so",
			`this libpmix is "OpenPMIx 3.1.5", but tpsl was built for 4.x; install libpmix2 of that version or build tpsl anew`,
		},
	} {
		folder := t.TempDir()
		source, library := filepath.Join(folder, "fake.c"), filepath.Join(folder, c.soname)
		require.NoError(t, os.WriteFile(source, []byte(c.source), 0o600))
		_, errOut, code := testsupport.Run(t, limit, nil, "cc", "-shared", "-fPIC", "-Wl,-soname,"+c.soname, "-o", library, source)
		require.Zero(t, code, errOut)
		value := folder
		if c.variable == "LD_PRELOAD" {
			value = library
		}
		o := pmixJobWith(t, []string{c.variable + "=" + value}, "-pmi x -n 1", "true")
		assert.Equal(t, 255, o.code)
		assert.Regexp(t, "^mpiexec: serve PMIx on .*"+c.want+"\n$", o.stderr)
	}
}
