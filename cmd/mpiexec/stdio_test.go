// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Hydra's job dies of more than 64 KiB.
func TestStdinSizes(t *testing.T) {
	for _, size := range []int{0, 1000, 66000, 20 << 20} {
		j := launch(t, bytes.NewReader(make([]byte, size)), "mpiexec", "-n", "2", "sh", "-c", "sleep 0.1; wc -c")
		require.Zero(t, j.end(t), j.errOut.String())
		assert.ElementsMatch(t, []string{fmt.Sprint(size), "0"}, lines(j.out.String()), "rank 0 gets all, rank 1 an empty stdin")
	}
}

func TestStdinContentAndPace(t *testing.T) {
	input := strings.Repeat("0123456789abcde\n", 1<<18)
	slow := "while dd bs=65536 count=4 iflag=fullblock 2>/dev/null | grep . ; do sleep 0.01; done"
	j := launch(t, strings.NewReader(input), "mpiexec", "-n", "1", "sh", "-c", slow)
	require.Zero(t, j.end(t))
	assert.Equal(t, len(input), j.out.Len())
	assert.Equal(t, input, j.out.String())
}

// Rank 0 that reads little or nothing ends the job as usual; who feeds it finds out as in any pipeline.
func TestStdinNotRead(t *testing.T) {
	for script, code := range map[string]int{"exit 4": 4, "head -c 10 >/dev/null; exit 4": 4, "exec 0<&-; exec sleep 60": 15} {
		r, w := pipe(t)
		fed := make(chan error, 1)
		go func() {
			_, err := io.Copy(w, zeros{})
			fed <- err
		}()
		j := launch(t, r, "mpiexec", "-n", "2", "sh", "-c", script)
		r.Close()
		select {
		case err := <-fed:
			assert.ErrorContains(t, err, "broken pipe")
		case <-time.After(patience):
			t.Error("the writer of stdin is stuck")
		}
		if code == int(unix.SIGTERM) {
			require.NoError(t, j.Process.Signal(unix.SIGTERM))
		}
		assert.Equal(t, code, j.end(t))
	}
}

// A stdin that cannot be read is told, and is an empty one for the rank. That of nohup, and a terminal that has gone, are not told.
func TestStdinNotReadable(t *testing.T) {
	for redirect, want := range map[string]string{"</": "mpiexec: read standard input: is a directory\n", "0>/dev/null": ""} {
		j := launch(t, nil, "sh", "-c", `exec "$@" `+redirect, "sh", "mpiexec", "-n", "2", "sh", "-c", "wc -c; exit 4")
		assert.Equal(t, 4, j.end(t), redirect)
		assert.Equal(t, "0\n0\n", j.out.String(), redirect)
		assert.Equal(t, want, j.errOut.String(), redirect)
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer slave.Close()
	r, w := pipe(t)
	j := launchTo(t, slave, w, "mpiexec", "-n", "1", "sh", "-c", "read word; echo $word; wc -c; exit 4")
	j.reader = newCollector(r)
	_, err = master.WriteString("word\n")
	require.NoError(t, err)
	j.reader.await(t, "word\n", 1)
	require.NoError(t, master.Close())
	assert.Equal(t, 4, j.end(t))
	assert.Empty(t, j.errOut.String())
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// Lines of many writers, most of them written in two pieces, arrive whole and complete.
func TestLinesAreWhole(t *testing.T) {
	const ranks, count = 8, 200
	script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do printf abc$PMI_RANK-; printf $i-def\\\\n; i=$((i+1)); done", count)
	for _, label := range []bool{false, true} {
		args := []string{"-n", fmt.Sprint(ranks), "sh", "-c", script}
		if label {
			args = append([]string{"-l"}, args...)
		}
		j, code := runJob(t, args...)
		require.Zero(t, code)
		var want []string
		for rank := range ranks {
			for i := range count {
				line := fmt.Sprintf("abc%d-%d-def", rank, i)
				if label {
					line = fmt.Sprintf("[%d] %s", rank, line)
				}
				want = append(want, line)
			}
		}
		assert.ElementsMatch(t, want, lines(j.out.String()))
	}
}

func TestUnfinishedLines(t *testing.T) {
	j, _ := runJob(t, "-n", "1", "printf", "abc")
	assert.Equal(t, "abc", j.out.String(), "nothing is added to the only one")
	j, _ = runJob(t, "-l", "-n", "3", "sh", "-c", "printf abc; printf def >&2")
	assert.ElementsMatch(t, []string{"[0] abc", "[1] abc", "[2] abc"}, lines(j.out.String()))
	assert.ElementsMatch(t, []string{"[0] def", "[1] def", "[2] def"}, lines(j.errOut.String()), "the streams stay apart")
}

// What mpiexec says begins a line, and an empty one is never in front of it.
func TestReportBeginsLine(t *testing.T) {
	for _, say := range []string{"printf oops >&2", "echo oops >&2"} {
		j, code := runJob(t, "-n", "2", "sh", "-c", "[ $PMI_RANK = 0 ] || exec sleep 60; printf out; "+say+"; kill -9 $$")
		assert.Equal(t, 9, code)
		assert.Regexp(t, `\Aoops\nmpiexec: rank 0 .* was killed by SIGKILL .*\n\z`, j.errOut.String())
		assert.Equal(t, "out", j.out.String())
		for _, timeout := range []string{"1", "5", "20"} { // until the rank gets so far in time
			j, _ = runJob(t, "-timeout", timeout, "-n", "1", "sh", "-c", say+"; exec sleep 60")
			if strings.HasPrefix(j.errOut.String(), "oops") {
				break
			}
		}
		assert.Regexp(t, `\Aoops\nmpiexec: APPLICATION TIMED OUT, .*\nmpiexec: rank 0 .*\n\z`, j.errOut.String())
	}
}

// Signals that tell mpiexec again to end do so even if nobody reads what is on its stderr.
func TestStuckStderr(t *testing.T) {
	_, w := pipe(t)
	written := filepath.Join(t.TempDir(), "written") // more than a pipe holds
	j := launchTo(t, nil, w, "sh", "-c", `exec "$@" 2>&1`, "sh",
		"mpiexec", "-n", "1", "sh", "-c", "yes | head -c 3000000 >&2; >"+written+"; exec sleep 60")
	require.Eventually(t, func() bool { _, err := os.Stat(written); return err == nil }, patience, 20*time.Millisecond)
	require.Eventually(t, func() bool {
		_ = j.Process.Signal(unix.SIGTERM)
		return len(j.processes()) == 0
	}, patience, 200*time.Millisecond, "mpiexec waits for its reader")
	assert.Equal(t, int(unix.SIGTERM), j.end(t))
}

// Nor does mpiexec, when all of the job has ended, wait against the user's will until its own last line is read.
func TestStuckLastLine(t *testing.T) {
	for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGQUIT, unix.SIGINT} {
		t.Run(unix.SignalName(signal), func(t *testing.T) {
			t.Parallel()
			report := filepath.Join(t.TempDir(), "report")
			_, w := pipe(t)
			room, err := unix.FcntlInt(w.Fd(), unix.F_GETPIPE_SZ, 0)
			require.NoError(t, err)
			// The rank leaves no room in the pipe.
			j := launchTo(t, nil, w, "sh", "-c", `exec "$@" 2>&1`, "sh",
				"mpiexec", "-report", report, "-n", "1", "sh", "-c", `head -c $0 /dev/zero >&2; kill -9 $$`, strconv.Itoa(room))
			// mpiexec writes the report when it has heard of the end of all, and its last line afterwards.
			require.Eventually(t, func() bool { info, err := os.Stat(report); return err == nil && info.Size() > 0 }, patience, 20*time.Millisecond)
			require.NoError(t, j.Process.Signal(signal))
			require.Eventually(t, func() bool {
				if signal == unix.SIGINT { // the second one counts, and two that come close together may be one
					_ = j.Process.Signal(signal)
				}
				return len(j.processes()) == 0
			}, patience, 300*time.Millisecond, "mpiexec waits for its reader")
			assert.Equal(t, 9, j.end(t))
		})
	}
}

func TestLongLine(t *testing.T) {
	j, code := runJob(t, "-l", "-n", "2", "sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x; echo")
	require.Zero(t, code)
	whole := strings.Repeat("x", 1000000)
	assert.ElementsMatch(t, []string{"[0] " + whole, "[1] " + whole}, lines(j.out.String()))
}

// Much output to a slow reader loses nothing, also when a rank has crashed and the limit for the job's end is over.
func TestSlowReader(t *testing.T) {
	for _, delay := range []time.Duration{300 * time.Millisecond, 11 * time.Second} {
		t.Run(delay.String(), func(t *testing.T) {
			t.Parallel()
			r, w := pipe(t)
			// Less than a window, so that the ranks can end before anything is read.
			j := launchTo(t, nil, w, "mpiexec", "-n", "2", "sh", "-c", "[ $PMI_RANK = 0 ] && exec sleep 60; seq 500000; kill -9 $$")
			w.Close()
			time.Sleep(delay)
			numbers := 0
			for scan := bufio.NewScanner(r); scan.Scan(); {
				numbers++
			}
			assert.Equal(t, 9, j.end(t))
			assert.Equal(t, 500000, numbers)
		})
	}
}

// mpiexec may stand still for any time while ranks print and end: nothing is lost. If it is killed then, its proxy ends.
func TestStoppedMpiexec(t *testing.T) {
	const size = 2_000_000 // more than the pipe from the proxy holds, less than a window
	for _, signal := range []unix.Signal{unix.SIGCONT, unix.SIGKILL} {
		t.Run(unix.SignalName(signal), func(t *testing.T) {
			t.Parallel()
			begin := filepath.Join(t.TempDir(), "begin")
			j := launch(t, nil, "mpiexec", "-n", "1", "sh", "-c", `until [ -e "$0" ]; do sleep 0.02; done; yes | head -c $1`, begin, strconv.Itoa(size))
			j.awaitRanks(t, 1)
			stop(t, j.Process.Pid)
			require.NoError(t, os.WriteFile(begin, nil, 0o600))
			require.Eventually(t, func() bool { _, ranks := j.family(); return len(ranks) == 0 }, patience, 20*time.Millisecond)
			time.Sleep(11 * time.Second)
			proxy, _ := j.family()
			assert.NotZero(t, proxy, "it waits for mpiexec")
			require.NoError(t, j.Process.Signal(signal))
			code := j.end(t)
			if signal == unix.SIGCONT {
				assert.Zero(t, code, j.errOut.String())
				assert.Equal(t, size, j.out.Len())
			}
		})
	}
}

// A closed stdout ends the job, as SIGPIPE ends any program.
func TestClosedStdout(t *testing.T) {
	for _, script := range []string{"yes", "while :; do echo x; sleep 0.05; done"} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		j := launchTo(t, nil, w, "mpiexec", "-n", "3", "sh", "-c", script)
		w.Close()
		_, err = bufio.NewReader(r).ReadString('\n')
		require.NoError(t, err)
		r.Close()
		assert.Equal(t, 141, j.end(t))
		assert.Contains(t, j.errOut.String(), "nobody reads standard output")
	}
}

// Output that cannot be written is an error, also when the ranks have ended well.
func TestFullStdout(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	for _, script := range []string{"echo x", "echo x; exec sleep 60"} {
		for range 5 {
			j := launchTo(t, nil, full, "mpiexec", "-n", "2", "sh", "-c", script)
			assert.Equal(t, 255, j.end(t))
			assert.Equal(t, "mpiexec: write standard output: no space left on device\n", j.errOut.String())
		}
	}
}

// A reader that never reads does not keep a job that the user ends.
func TestStuckStdoutAndTimeout(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	j := launchTo(t, nil, w, "mpiexec", "-timeout", "0.5", "-n", "2", "yes")
	w.Close()
	assert.Equal(t, 255, j.end(t))
	assert.Less(t, time.Since(j.started), patience)
}
