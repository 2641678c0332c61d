// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two streams share one stream. Each is read separately, and other text is between their lines.
func TestLines(t *testing.T) {
	var wire bytes.Buffer
	shared := &sharedWriter{out: &wire}
	random := rand.New(rand.NewPCG(1, 2))
	sent := make([][]byte, 2)
	for range 200 {
		task := random.IntN(2)
		text := make([]byte, random.IntN(3000))
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		n, err := (&lineWriter{task, shared}).Write(text)
		require.NoError(t, err)
		assert.Equal(t, len(text), n)
		sent[task] = append(sent[task], text...)
		wire.WriteString("some shell says: welcome\n")
	}
	require.NoError(t, (&lineWriter{0, shared}).Close())
	wire.WriteString("0 bm90IHJlYWQ=\n")
	for line := range strings.Lines(wire.String()) {
		require.LessOrEqual(t, len(line), 1024)
	}
	for task, want := range sent {
		got, err := io.ReadAll(&lineReader{task: task, in: bufio.NewReader(bytes.NewReader(wire.Bytes()))})
		require.NoError(t, err)
		assert.Equal(t, want, got, task)
	}
}

func TestLinesRefuses(t *testing.T) {
	t.Setenv("SLURM_PROCID", "")
	_, _, err := Lines(strings.NewReader(""), io.Discard)
	assert.ErrorContains(t, err, "SLURM_PROCID")
}

// Only srun tells that a task has died.
func TestComplaints(t *testing.T) {
	for line, want := range map[string][]bool{
		"srun: error: n3: task 1: Killed":                    {false, true},
		"srun: error: n[1-3]: tasks 0-1: Exited with code 1": {true, true},
		"srun: launch/slurm: something else: task 1":         {false, false},
	} {
		st := &step{stderr: new(stderrTail), live: 3, ended: make(chan struct{})}
		for i := range 2 {
			l := &lane{step: st, known: make(chan struct{}), ended: make(chan struct{}), to: &lineWriter{task: i}}
			l.in, l.out = io.Pipe()
			st.lanes = append(st.lanes, l)
		}
		c := &complaints{step: st}
		_, _ = io.WriteString(c, line[:9])
		_, _ = io.WriteString(c, line[9:]+"\nnext")
		for i, l := range st.lanes {
			assert.Equal(t, want[i], l.over, "%s: %d", line, i)
			if l.over {
				assert.EqualError(t, l.wait(), line)
			}
		}
	}
}

func TestSrunCommand(t *testing.T) {
	s := &slurm{opts: Options{Hybrid: true, Exec: "/bin/false", ExtraArgs: []string{"--qos=x"}}}
	args, err := s.command([]Host{{Name: "a"}, {Name: "b"}})
	require.NoError(t, err)
	assert.Equal(t, "/bin/false -N 2 -n 2 --ntasks-per-node=1 --nodelist=a,b --export=NONE --mem=0 --cpu-bind=none --mpi=none "+
		"--kill-on-bad-exit=0 --qos=x mpiexec +proxy lines", strings.Join(args, " "))
	_, err = s.Start(Host{ID: 4, Name: "c"})
	assert.ErrorContains(t, err, "nobody expected it")
}

// An srun that does not answer delays nobody.
func TestSrunThatHangs(t *testing.T) {
	srun := filepath.Join(t.TempDir(), "srun")
	require.NoError(t, os.WriteFile(srun, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700))
	began := time.Now()
	_, err := (&slurm{opts: Options{Exec: srun, Limit: 50 * time.Millisecond}}).command([]Host{{Name: "a"}})
	require.NoError(t, err)
	assert.Less(t, time.Since(began), patience)
}

// A line that is not ours belongs to no task. A line never gives more bytes than it has.
func FuzzParseLine(f *testing.F) {
	f.Add("3 aGVsbG8=\n")
	f.Add("3 .\n")
	f.Fuzz(func(t *testing.T, line string) {
		_, text, err := parseLine(line)
		if err == nil && len(text) > len(line) {
			t.Fatal("more than was sent")
		}
	})
}
