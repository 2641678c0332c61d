// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package descriptors

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/process/rankset"
)

// layouts are those that processes have.
var layouts = map[string]struct {
	layout   Layout
	settings string
	count    int // ends that the launcher keeps
}{
	"one rank":              {Layout{Ranks: []int{7}, Sessions: true}, "PMI_FD=3", 3},
	"one that reads":        {Layout{Ranks: []int{7}, Readers: plan.AllRanks(), Sessions: true}, "PMI_FD=3", 4},
	"one by PMIx":           {Layout{Ranks: []int{7}}, "", 2},
	"one that is witnessed": {Layout{Ranks: []int{7}, Sessions: true, Control: true}, "PMI_FD=3 TPSL_CONTROL_FD=4", 4},
	"shared":                {Layout{Ranks: []int{7, 9}, Readers: plan.Ranks{{First: 9, Last: 9}}, Sessions: true, Control: true}, "PMI_FD=3,4 TPSL_CONTROL_FD=5", 6},
	"private": {Layout{Ranks: []int{7, 8, 9}, Readers: plan.Ranks{{First: 9, Last: 9}}, PerRank: true, Sessions: true, Control: true},
		"PMI_FD=3,4,5 TPSL_CONTROL_FD=6 TPSL_STDIO=1,2;7,8;9,10,11", 11},
	"private, all read": {Layout{Ranks: []int{7, 9}, Readers: plan.AllRanks(), PerRank: true, Sessions: true, Control: true},
		"PMI_FD=3,4 TPSL_CONTROL_FD=5 TPSL_STDIO=1,2,0;6,7,8", 9},
	"private, alone": {Layout{Ranks: []int{7}, Readers: plan.AllRanks(), PerRank: true, Sessions: true}, "PMI_FD=3", 4},
}

func TestSettings(t *testing.T) {
	for name, c := range layouts {
		assert.Equal(t, c.settings, strings.Join(c.layout.Settings(), " "), name)
		assert.Equal(t, c.count, c.layout.Count(), name)
	}
}

// What the variables say is what the process reads in them.
func TestSettingsAreRead(t *testing.T) {
	for name, c := range layouts {
		if !c.layout.Sessions {
			continue // such a process is told nothing
		}
		var ranks []string
		for _, rank := range c.layout.Ranks {
			ranks = append(ranks, string(rune('0'+rank)))
		}
		env := append(c.layout.Settings(), "PMI_SIZE=10", "PMI_RANK="+strings.Join(ranks, ","))
		set, err := rankset.Parse(func(name string) string { value, _ := plan.Getenv(env, name); return value })
		require.NoError(t, err, name)
		uses := c.layout.uses()
		assert.Equal(t, c.layout.Ranks, set.Ranks, name)
		for slot := range c.layout.Ranks {
			assert.Equal(t, use{session, slot}, uses[atoi(t, set.PMI[slot])], name)
			if set.Stdio == nil {
				continue
			}
			streams := set.Stdio[slot]
			assert.Equal(t, []use{{stdout, slot}, {stderr, slot}}, []use{uses[streams.Stdout], uses[streams.Stderr]}, name)
			if c.layout.Readers.Hold(c.layout.Ranks[slot]) {
				assert.Equal(t, use{input, slot}, uses[streams.Stdin], name)
			} else {
				assert.Equal(t, -1, streams.Stdin, name)
			}
		}
		assert.Equal(t, c.layout.Control, set.ControlFD >= 0, name)
		if set.ControlFD >= 0 {
			assert.Equal(t, use{control, 0}, uses[set.ControlFD], name)
		}
	}
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := rankset.Number("descriptor", text)
	require.NoError(t, err)
	return n
}

// What is written at one end of each descriptor comes out at the other, and there are as many as are counted.
func TestOpen(t *testing.T) {
	for name, c := range layouts {
		s, err := c.layout.Open()
		require.NoError(t, err, name)
		files := append(slices.Clone(s.Inputs), s.Sessions...)
		for fd, u := range c.layout.uses() {
			process := os.NewFile(uintptr(s.Process[fd]), name)
			from, to := process, (*os.File)(nil)
			switch u.role {
			case emptyInput:
				_, err := process.Read(make([]byte, 1))
				assert.Error(t, err, name)
			case input:
				i := slices.IndexFunc(readers(c.layout), func(reader use) bool { return reader == u })
				from, to = s.Inputs[i], process
			case stdout:
				to = s.Outputs[u.slot].Stdout
			case stderr:
				to = s.Outputs[u.slot].Stderr
			case session:
				to = s.Sessions[u.slot]
			case control:
				to = s.Control
			}
			if to != nil {
				checkConnected(t, from, to, name)
			}
			process.Close()
		}
		for _, o := range s.Outputs {
			files = append(files, o.Stdout, o.Stderr)
		}
		if s.Control != nil {
			files = append(files, s.Control)
		}
		assert.Len(t, files, c.count, name)
		s.Close()
		for _, f := range files {
			assert.ErrorIs(t, f.Close(), os.ErrClosed, name)
		}
	}
}

func readers(l Layout) []use {
	return slices.DeleteFunc(l.uses(), func(u use) bool { return u.role != input })
}

func checkConnected(t *testing.T, from, to *os.File, name string) {
	t.Helper()
	_, err := from.WriteString("x")
	require.NoError(t, err, name)
	text := make([]byte, 2)
	n, err := to.Read(text)
	require.NoError(t, err, name)
	assert.Equal(t, "x", string(text[:n]), name)
}

// What another launcher has made stands where the process looks for it.
func TestAdopt(t *testing.T) {
	folder := t.TempDir()
	open := func(name string) int {
		file, err := os.Create(folder + "/" + name)
		require.NoError(t, err)
		t.Cleanup(func() { file.Close() })
		return int(file.Fd())
	}
	for name, c := range layouts {
		layout := c.layout
		layout.Readers, layout.Sessions = plan.AllRanks(), true
		var made Connections
		want := map[use]string{}
		for slot := range layout.Ranks {
			names := map[role]string{}
			for role, word := range map[role]string{session: "session", input: "input", stdout: "stdout", stderr: "stderr"} {
				names[role] = word + string(rune('0'+slot))
				want[use{role, slot}] = names[role]
			}
			made.Sessions = append(made.Sessions, open(names[session]))
			made.Streams = append(made.Streams, [3]int{open(names[input]), open(names[stdout]), open(names[stderr])})
		}
		s, err := layout.Adopt(made)
		require.NoError(t, err, name)
		for fd, u := range layout.uses() {
			process := os.NewFile(uintptr(s.Process[fd]), name)
			if u.role == control {
				checkConnected(t, process, s.Control, name)
			} else {
				is, err := process.Stat()
				require.NoError(t, err)
				meant, err := os.Stat(folder + "/" + want[u])
				require.NoError(t, err)
				assert.True(t, os.SameFile(is, meant), "%s: %v is not %s", name, u, want[u])
			}
			process.Close()
		}
		assert.Empty(t, s.Outputs, "their other ends are not ours")
		s.Close()
	}
}

// Nothing stays open of what cannot be made as a whole.
func TestFailureLeavesNothing(t *testing.T) {
	before, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	layout := Layout{Ranks: []int{0, 1}, PerRank: true, Sessions: true, Control: true}
	_, err = layout.Adopt(Connections{Sessions: []int{0, -1}, Streams: [][3]int{{0, 1, 2}, {0, 1, 2}}})
	assert.ErrorContains(t, err, "copy descriptor -1")
	after, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	assert.Len(t, after, len(before))
}
