// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/pagetables"
	"github.com/tpsl/tpsl/pagetables/events"
)

// listener is a source that notes what it is told to follow.
type listener struct {
	events.Source
	told [][]events.Thread
}

func (l *listener) Follow(threads, others []events.Thread) error {
	l.told = append(l.told, append(threads, others...))
	return nil
}

func (l *listener) Name(events.File, string) error { return nil }

// job has mpiexec as process 7, and below it ranks 0 and 1 as processes 8 and 9.
func job(t *testing.T) pagetables.Proc {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	link := func(name string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, name, "ns"), 0o777))
		require.NoError(t, os.Symlink("pid:[1]", filepath.Join(root, name, "ns/pid")))
	}
	link("self")
	for _, p := range []struct{ pid, parent, environ, maps string }{
		{"7", "1", "", "1000-2000 r-xp 0 08:01 4 /bin/mpiexec\n"},
		{"8", "7", "PMI_RANK=0\x00", "1000-3000 r-xp 0 08:01 5 /lib/libmpich.so.12\n"},
		{"9", "7", "PMI_RANK=1\x00", "1000-3000 r-xp 0 08:01 5 /lib/libmpich.so.12\n"},
	} {
		link(p.pid)
		write(p.pid+"/status", "Name:\tprog\nTgid:\t"+p.pid+"\nVmPTE:\t16 kB\n")
		write(p.pid+"/stat", p.pid+" (x) S "+p.parent+strings.Repeat(" 5", 30))
		write(p.pid+"/environ", p.environ)
		write(p.pid+"/maps", p.maps)
		write(p.pid+"/task/"+p.pid+"/comm", "prog\n")
	}
	return pagetables.Proc(root)
}

// All threads of a job are told at once: the kernel lists every thread of the machine for it.
func TestOneListATime(t *testing.T) {
	source := &listener{}
	w := &watch{proc: job(t), source: source, named: map[events.File]bool{}}
	alive, errs := w.update([]int{7})
	require.Empty(t, errs)
	assert.Equal(t, 2, alive)
	assert.Equal(t, [][]events.Thread{{{ID: 8, Owner: 0}, {ID: 9, Owner: 1}}}, source.told)
	assert.Equal(t, []owner{{8, 0, 0}, {9, 1, 0}}, w.owners)
}
