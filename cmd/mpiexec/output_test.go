// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// Each name is one file, labels included, in mpiexec's folder; nothing of it comes to the terminal. An old file leaves no
// tail, which it does with Hydra.
func TestOutputFiles(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	script := "echo out$PMI_RANK; echo err$PMI_RANK >&2"
	all := func(*job) bool {
		first, _ := os.ReadFile("out.0." + host)
		out, _ := os.ReadFile("out.1." + host)
		text, _ := os.ReadFile("err.0-0%")
		return string(first) == "[0] out0\n" && bytes.HasPrefix(out, []byte("[1] out1\n")) && bytes.Count(text, []byte("\n")) == 3
	}
	for launcher, run := range map[string]func(*testing.T, ...string) *job{
		"mpiexec":       func(t *testing.T, args ...string) *job { t.Helper(); j, _ := runJob(t, args...); return j },
		"mpiexec.hydra": func(t *testing.T, args ...string) *job { t.Helper(); return byHydra(t, all, args...) },
	} {
		dir := t.TempDir()
		t.Chdir(dir)
		require.NoError(t, os.WriteFile("out.1."+host, []byte(strings.Repeat("old\n", 100)), 0o600))
		args := []string{"-l", "-outfile-pattern", "out.%r.%h", "-errfile-pattern", "err.%p-%g%%", "-wdir", "/", "-n", "3", "sh", "-c", script}
		j := run(t, args...)
		require.Zero(t, j.ProcessState.ExitCode(), j.errOut.String())
		assert.Empty(t, j.out.String()+j.errOut.String())
		assert.ElementsMatch(t, []string{"[0] err0", "[1] err1", "[2] err2"}, lines(fileText(t, "err.0-0%")), launcher)
		assert.Equal(t, "[0] out0\n", fileText(t, "out.0."+host), launcher)
		if launcher == "mpiexec" {
			assert.Equal(t, "[1] out1\n", fileText(t, "out.1."+host))
		} else {
			assert.Equal(t, "[1] out1\nld\n", fileText(t, "out.1."+host)[:len("[1] out1\nld\n")], "Hydra keeps the tail")
		}
	}
}

func TestOutputFrom(t *testing.T) {
	dir := t.TempDir()
	script := "echo out$PMI_RANK; echo err$PMI_RANK >&2"
	j, code := runJob(t, "-l", "-output-from", "1,3-4", "-errfile-pattern", dir+"/err.%r", "-n", "6", "sh", "-c", script)
	require.Zero(t, code, j.errOut.String())
	assert.ElementsMatch(t, []string{"[1] out1", "[3] out3", "[4] out4"}, lines(j.out.String()))
	files, err := filepath.Glob(dir + "/*")
	require.NoError(t, err)
	assert.Equal(t, []string{dir + "/err.1", dir + "/err.3", dir + "/err.4"}, files)
}

// In shared mode the set is what has streams.
func TestOutputOfSets(t *testing.T) {
	putStandIns(t)
	dir := t.TempDir()
	j, code := runJob(t, "-tpsl", "shared", "-prepend-pattern", "%r: ", "-outfile-pattern", dir+"/out.%r", "-output-from", "2", "-n", "4", "-rpp", "2", sessions(t))
	require.Zero(t, code, j.errOut.String())
	text := fileText(t, dir+"/out.2-3")
	assert.True(t, strings.HasPrefix(text, "2-3: "), text)
	assert.NoFileExists(t, dir+"/out.0-1")
}

// %t is the time since the job began, in every line anew.
func TestLabelWithTime(t *testing.T) {
	in, feed := pipe(t)
	r, w := pipe(t)
	j := launchTo(t, in, w, "mpiexec", "-prepend-pattern", "%t s: ", "-n", "1", "sh", "-c", "echo a; read word; echo b")
	j.reader = newCollector(r)
	j.reader.await(t, " s: a\n", 1)
	time.Sleep(time.Second)
	_, err := feed.WriteString("word\n")
	require.NoError(t, err)
	require.Zero(t, j.end(t), j.errOut.String())
	j.reader.await(t, " s: b\n", 1)
	var a, b float64
	_, err = fmt.Sscanf(j.reader.text(), "%f s: a\n%f s: b\n", &a, &b)
	require.NoError(t, err, j.reader.text())
	assert.Greater(t, b, a)
	assert.LessOrEqual(t, b, time.Since(j.started).Seconds())
}

// An output file that cannot be opened keeps the job from starting.
func TestOutputFileNotOpened(t *testing.T) {
	j, code := runJob(t, "-outfile-pattern", "/nonexistent/out.%r", "-n", "2", "touch", t.TempDir()+"/started")
	assert.Equal(t, 255, code)
	assert.Regexp(t, `\Ampiexec: open output file /nonexistent/out.0 of rank 0 on \S+: no such file or directory\n\z`, j.errOut.String())
}

// A FIFO is an output file like others if somebody reads it. It takes more here than fits into a pipe.
func TestOutputFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	j, code := runJob(t, "-outfile-pattern", fifo, "-n", "2", "touch", t.TempDir()+"/started")
	assert.Equal(t, 255, code)
	assert.Regexp(t, `\Ampiexec: open output file `+fifo+` of rank 0 on \S+: nobody reads it \(no such device or address\)\n\z`, j.errOut.String())

	reader, err := os.OpenFile(fifo, os.O_RDWR, 0) // does not wait for a writer
	require.NoError(t, err)
	defer reader.Close()
	j = launch(t, nil, "mpiexec", "-outfile-pattern", fifo, "-n", "2", "seq", "100000")
	time.Sleep(300 * time.Millisecond)
	j.reader = newCollector(reader)
	require.Zero(t, j.end(t), j.errOut.String())
	j.reader.await(t, "\n", 200000)
}

// A full disk ends the job, with a line that names rank, host and file, also when the ranks are done by then.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		testsupport.Unable(t, "cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(dir, 0)) })
	for _, then := range []string{"", "; exec sleep 60"} {
		j, code := runJob(t, "-outfile-pattern", dir+"/out.%r", "-n", "2", "sh", "-c", "[ $PMI_RANK = 0 ] || yes | head -c 100000"+then)
		assert.Equal(t, 255, code)
		assert.Regexp(t, `\Ampiexec: write output file `+dir+`/out.1 of rank 1 on \S+: no space left on device\n\z`, j.errOut.String())
	}
}

// Only labels have colours, only on a terminal, and none where NO_COLOR asks for none.
func TestColours(t *testing.T) {
	testsupport.Require(t, "script")
	for env, want := range map[string]string{"NO_COLOR=": "\x1b[32m[1] \x1b[0mtext\r\n", "NO_COLOR=1": "[1] text\r\n"} {
		cmd := exec.Command("script", "-qec", "mpiexec -l -n 2 -output-from 1 echo text", "/dev/null")
		cmd.Env = append(os.Environ(), env)
		out, err := cmd.Output()
		require.NoError(t, err)
		assert.Equal(t, want, string(out), env)
	}
	j, _ := runJob(t, "-l", "-n", "1", "echo", "text")
	assert.Equal(t, "[0] text\n", j.out.String())
}

// Every reader gets all of stdin, the slow ones too, and nobody waits for one that reads no more.
func TestStdinReaders(t *testing.T) {
	input := strings.Repeat("0123456789abcde\n", 1<<16)
	script := `case $PMI_RANK in 1) exit;; 2) sleep 0.3;; esac; wc -c`
	for readers, want := range map[string][]string{
		"all":  {"[0] 1048576", "[2] 1048576", "[3] 1048576"},
		"2,3":  {"[0] 0", "[2] 1048576", "[3] 1048576"},
		"none": {"[0] 0", "[2] 0", "[3] 0"},
		"1":    {"[0] 0", "[2] 0", "[3] 0"},
	} {
		j := launch(t, strings.NewReader(input), "mpiexec", "-l", "-stdin", readers, "-n", "4", "sh", "-c", script)
		require.Zero(t, j.end(t), j.errOut.String())
		assert.ElementsMatch(t, want, lines(j.out.String()), readers)
	}
}

// Ten thousand lines of each rank at once: none lost, none torn, in each rank's order. Hydra tears lines.
func TestManyLinesAtOnce(t *testing.T) {
	const ranks, count = 4, 10000
	script := fmt.Sprintf(`BEGIN { for (i = 0; i < %d; i++) { printf "%%s-", ENVIRON["PMI_RANK"]; if (i %% 7 == 0) fflush(); print i "-end" } }`, count)
	began := time.Now()
	j, code := runJob(t, "-n", fmt.Sprint(ranks), "awk", script)
	require.Zero(t, code, j.errOut.String())
	next := make([]int, ranks)
	for _, line := range lines(j.out.String()) {
		var rank, i int
		_, err := fmt.Sscanf(line, "%d-%d-end", &rank, &i)
		if err != nil || next[rank] != i {
			t.Fatalf("%q after line %d of rank %d", line, next[rank], rank)
		}
		next[rank]++
	}
	assert.Equal(t, []int{count, count, count, count}, next)
	assert.Less(t, time.Since(began), patience)
}
