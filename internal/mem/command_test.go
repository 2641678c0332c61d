// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/pagetables"
)

// machine has mpiexec as process 7, and below it process 9, a rank of its own.
func machine(t *testing.T) pagetables.Proc {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	for _, p := range []struct{ pid, name, parent, maps string }{
		{"7", "mpiexec", "1", "1000-2000 r-xp 0 08:01 4 /bin/mpiexec\nRss: 4 kB\n"},
		{"9", "prog", "7", "1000-3000 r-xp 0 08:01 5 /lib/libmpich.so.12\nRss: 8 kB\n4000-8000 rw-p 0 0:0 0\nRss: 12 kB\nAnonymous: 12 kB\nSwap: 4 kB\n"},
	} {
		write(p.pid+"/status", "Name:\t"+p.name+"\nVmPTE:\t16 kB\n")
		write(p.pid+"/stat", p.pid+" (x) S "+p.parent+strings.Repeat(" 5", 30))
		write(p.pid+"/environ", "PMI_RANK=2\x00")
		write(p.pid+"/pagemap", "")
		write(p.pid+"/maps", p.maps)
		write(p.pid+"/smaps", p.maps)
	}
	return pagetables.Proc(dir)
}

func TestCommand(t *testing.T) {
	table := "prog, process 9: 1 rank, page tables 16 kB\n" +
		"  PRIVATE  SHARED  TABLES  TOTAL  COPIED  SWAPPED  HUGE  MAPPED  RANK\n" +
		"       kB      kB      kB     kB      kB       kB    kB      kB\n" +
		"       16       8       0     24       0        4     0      24  rank 2\n" +
		"       16       8       0     24       0        4     0      24  sum\n\n"
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"7", 0, table + "1 rank, private memory and page tables of each: 32 kB\n", ""},
		{"9 7", 0, table + "1 rank, private memory and page tables of each: 32 kB\n", ""},
		{"9 -flat 9", 0, table + table + "1 rank, private memory and page tables of each: 32 kB\nas a process: 32 kB; ratio 1.00\n", ""},
		{"8", 1, "", "tpsl mem: process 8: there is no such process here: it has ended, or its number is that of another PID namespace\n"},
		{"", 255, "", "tpsl mem: no PID given; try tpsl mem -h\n"},
		{"9 x", 255, "", "tpsl mem: x is no PID; try tpsl mem -h\n"},
		{"-flat 0 9", 255, "", "tpsl mem: -flat: 0 is no PID; try tpsl mem -h\n"},
		{"9 -by cow", 255, "", "tpsl mem: -by cow: want rank, object, segment or page; try tpsl mem -h\n"},
		{"9 -by page -json", 255, "", "tpsl mem: -by page has no -json: a line is one already; try tpsl mem -h\n"},
		{"-h", 0, usage, ""},
	} {
		var stdout, stderr strings.Builder
		code := Command(machine(t), strings.Fields(c.args), &stdout, &stderr)
		assert.Equal(t, c.code, code, c.args)
		assert.Equal(t, c.stdout, stdout.String(), c.args)
		assert.Equal(t, c.stderr, stderr.String(), c.args)
	}
}

// Names that others chose do nothing to the terminal.
func TestNamesAreShownOnly(t *testing.T) {
	proc := machine(t)
	for file, to := range map[string]string{"status": "prog", "maps": "/lib/libmpich.so.12", "smaps": "/lib/libmpich.so.12"} {
		path := filepath.Join(string(proc), "9", file)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), to, to+"\x1b[2J", 1)), 0o666))
	}
	require.NoError(t, os.Remove(filepath.Join(string(proc), "9/environ")))
	for _, by := range []string{"object", "segment", "page"} {
		var stdout, stderr strings.Builder
		Command(proc, []string{"9", "-by", by}, &stdout, &stderr)
		said := stdout.String() + stderr.String()
		assert.Contains(t, said, `prog\x1b[2J`, by)
		assert.NotContains(t, said, "\x1b", by)
	}
	require.NoError(t, os.WriteFile(filepath.Join(string(proc), "9/environ"), []byte("PMI_RANK=2\x00"), 0o666))
	for _, by := range []string{"object", "segment", "page"} {
		var stdout, stderr strings.Builder
		Command(proc, []string{"9", "-by", by}, &stdout, &stderr)
		assert.Contains(t, stdout.String(), `prog\x1b[2J`, by)
		assert.NotContains(t, stdout.String(), "\x1b", by)
	}
}
