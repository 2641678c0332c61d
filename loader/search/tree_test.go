// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// tree is a folder of libraries that a test arranges.
type tree struct {
	t   *testing.T
	dir string
}

func newTree(t *testing.T) *tree {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return &tree{t, dir}
}

func (tr *tree) path(name string) string { return filepath.Join(tr.dir, name) }

// link builds the file name and returns its path. needs are "soname" or, where
// the two differ, "wanted=soname"; flags go to gcc.
func (tr *tree) link(name string, needs []string, flags ...string) string {
	tr.t.Helper()
	flags = append([]string{"-nostdlib", "-Wl,--no-as-needed"}, flags...)
	for _, soname := range needs {
		stub := testsupport.CC(tr.t, "gcc", "testdata/empty.c", "-shared", "-nostdlib", "-Wl,-soname,"+soname)
		flags = append(flags, stub)
	}
	built := testsupport.CC(tr.t, "gcc", "testdata/empty.c", flags...)
	data, err := os.ReadFile(built)
	require.NoError(tr.t, err)
	path := tr.path(name)
	require.NoError(tr.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(tr.t, os.WriteFile(path, data, 0o755))
	return path
}

// lib builds a shared library.
func (tr *tree) lib(name string, needs []string, flags ...string) string {
	tr.t.Helper()
	return tr.link(name, needs, append([]string{"-shared"}, flags...)...)
}

// cacheOf makes p use these cache entries.
func (p *Path) withCache(c cache) *Path {
	p.cache = func() cache { return c }
	return p
}

// paths returns name => path for each object but the root, in order.
func (c *Closure) paths() string {
	var lines []string
	for _, o := range c.Objects[1:] {
		lines = append(lines, o.Name+" => "+o.Path)
	}
	return strings.Join(lines, "\n")
}
