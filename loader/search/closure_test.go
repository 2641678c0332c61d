// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const limit = 2 * time.Minute

var (
	ldconfigLine = regexp.MustCompile(`(?m)^\s+(\S+) \(libc6,x86-64\) => (\S+)$`)
	lddLine      = regexp.MustCompile(`(?m)^\s+(?:(\S+) => )?(\S+) \(0x[0-9a-f]+\)$`)
)

// interpreter is loaded first and in use by all; ld.so prints it where it likes.
const interpreter = "ld-linux-x86-64.so.2"

// ldd returns "name => real path" for each library that ld.so loads, in its order.
func ldd(t *testing.T, env []string, path string) []string {
	testsupport.Require(t, "ldd")
	stdout, stderr, code := testsupport.Run(t, limit, env, "ldd", path)
	require.Zero(t, code, stderr)
	var lines []string
	for _, m := range lddLine.FindAllStringSubmatch(stdout, -1) {
		name, file := m[1], m[2]
		if name == "" {
			name = file
		}
		if strings.HasPrefix(file, "linux-vdso") || filepath.Base(file) == interpreter {
			continue
		}
		lines = append(lines, name+" => "+real(t, file))
	}
	return lines
}

func real(t *testing.T, path string) string {
	path, err := filepath.EvalSymlinks(path)
	require.NoError(t, err)
	return path
}

func sameAsLdd(t *testing.T, env []string, path string) {
	t.Helper()
	libraryPath := ""
	for _, e := range env {
		libraryPath = strings.TrimPrefix(e, "LD_LIBRARY_PATH=")
	}
	c, err := New(libraryPath).Closure(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	var have []string
	for _, o := range c.Objects[1:] {
		if o.Name != interpreter {
			have = append(have, o.Name+" => "+real(t, o.Path))
		}
	}
	assert.Equal(t, ldd(t, env, path), have)
	assert.NotEmpty(t, have)
}

func TestClosureAgainstLdd(t *testing.T) {
	for _, path := range []string{
		"/bin/bash", "/usr/bin/git", "/usr/bin/python3", "/usr/bin/gdb", "/usr/bin/perl",
		"/usr/lib/x86_64-linux-gnu/libmpich.so.12", "/usr/lib/x86_64-linux-gnu/libmpichcxx.so.12",
		"/usr/lib/x86_64-linux-gnu/libucp.so.0",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if _, err := os.Stat(path); err != nil {
				t.Skip(path + " is not installed")
			}
			sameAsLdd(t, nil, path)
		})
	}
}

// build makes a program that needs libb and liba; libb needs libc1 and liba;
// liba needs libd, which only its own or an inherited path leads to.
func (tr *tree) build(newTags bool) string {
	tags := "-Wl,--disable-new-dtags"
	if newTags {
		tags = "-Wl,--enable-new-dtags"
	}
	tr.lib("deep/libd.so", nil, "-Wl,-soname,libd.so")
	tr.lib("lib/libc1.so", nil, "-Wl,-soname,libc1.so")
	own := "$ORIGIN/../deep"
	if !newTags {
		own = "$ORIGIN/nowhere"
	}
	tr.lib("lib/liba.so", []string{"libd.so"}, "-Wl,-soname,liba.so", tags, "-Wl,-rpath,"+own)
	tr.lib("lib/libb.so", []string{"libc1.so", "liba.so"}, "-Wl,-soname,libb.so", tags, "-Wl,-rpath,$ORIGIN")
	return tr.link("bin/program", []string{"libb.so", "liba.so"}, "-pie", tags, "-Wl,-rpath,$ORIGIN/../lib:$ORIGIN/../deep")
}

func TestClosureOfOwnTree(t *testing.T) {
	for name, newTags := range map[string]bool{"RUNPATH": true, "RPATH": false} {
		t.Run(name, func(t *testing.T) {
			tr := newTree(t)
			program := tr.build(newTags)
			c, err := New("").Closure(program)
			require.NoError(t, err)
			defer c.Close()
			var names []string
			for _, o := range c.Objects {
				names = append(names, filepath.Base(o.Path))
			}
			assert.Equal(t, []string{"program", "libb.so", "liba.so", "libc1.so", "libd.so"}, names)
			assert.Equal(t, []int{1, 2}, c.Objects[0].Deps)
			assert.Equal(t, []int{3, 2}, c.Objects[1].Deps)
			assert.Equal(t, []int{4}, c.Objects[2].Deps)
			assert.Empty(t, c.Objects[4].Deps)
			assert.Same(t, c.Objects[2], c.Find("liba.so"))
			assert.Nil(t, c.Find("libz.so"))
			assert.Nil(t, c.Find(""))
			sameAsLdd(t, nil, program)
		})
	}
}

// RUNPATH is not inherited: libd is out of liba's reach, and libe nowhere.
func TestClosureReportsAllMissing(t *testing.T) {
	tr := newTree(t)
	tr.lib("deep/libd.so", nil)
	a := tr.lib("lib/liba.so", []string{"libd.so", "libe.so"})
	program := tr.link("program", []string{"liba.so", "libe.so"}, "-pie", "-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN/lib:$ORIGIN/deep")
	c, err := New("").Closure(program)
	assert.Nil(t, c)
	require.ErrorIs(t, err, ErrNotFound)
	assert.EqualError(t, err, "find libraries of "+program+": "+
		"libe.so: not found (needed by "+program+", "+a+"); libd.so: not found (needed by "+a+")")
}

func TestClosureLibraryPath(t *testing.T) {
	tr := newTree(t)
	program := tr.build(true)
	tr.lib("other/liba.so", nil, "-Wl,-soname,liba.so")
	sameAsLdd(t, []string{"LD_LIBRARY_PATH=" + tr.path("other") + ";" + tr.path("none") + ":"}, program)
	sameAsLdd(t, []string{"LD_LIBRARY_PATH=$ORIGIN/../other"}, program)
}

// One file under two names, and a file whose SONAME is another's name, are each
// loaded once.
func TestClosureSameFile(t *testing.T) {
	tr := newTree(t)
	tr.lib("libx.so.1.2", nil)
	for _, name := range []string{"libx.so", "libx.so.1"} {
		require.NoError(t, os.Symlink("libx.so.1.2", tr.path(name)))
	}
	tr.lib("liby.so", nil, "-Wl,-soname,libz.so")
	program := tr.link("program", []string{"libx.so", "libx.so.1", "liby.so", "libz.so"}, "-pie", "-Wl,-rpath,$ORIGIN")
	c, err := New("").Closure(program)
	require.NoError(t, err)
	defer c.Close()
	assert.Equal(t, "libx.so => "+tr.path("libx.so")+"\nliby.so => "+tr.path("liby.so"), c.paths())
	assert.Equal(t, []int{1, 1, 2, 2}, c.Objects[0].Deps)
	assert.Same(t, c.Objects[1], c.Find("libx.so.1"))
	assert.Same(t, c.Objects[2], c.Find("libz.so"))
	sameAsLdd(t, nil, program)
}

func TestClosureOfNothing(t *testing.T) {
	_, err := New("").Closure(newTree(t).path("missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A closure that fails must not leave its images mapped.
func TestClosureUnmaps(t *testing.T) {
	tr := newTree(t)
	program := tr.build(true)
	p := New("")
	c, err := p.Closure(program)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, os.Remove(tr.path("deep/libd.so")))
	_, err = p.Closure(program)
	require.ErrorIs(t, err, ErrNotFound)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	assert.NotContains(t, string(maps), tr.dir)
}
