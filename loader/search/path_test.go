// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/loader/image"
)

func open(t *testing.T, path string) *image.Image {
	m, err := image.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// The library is put into one place after the other, last first: each new one
// must win.
func TestFindOrder(t *testing.T) {
	tr := newTree(t)
	runpath := open(t, tr.lib("new.so", nil, "-Wl,-rpath,$ORIGIN/run", "-Wl,--enable-new-dtags"))
	rpath := open(t, tr.lib("old.so", nil, "-Wl,-rpath,${ORIGIN}/r", "-Wl,--disable-new-dtags"))
	require.NotEmpty(t, runpath.Runpath)
	require.NotEmpty(t, rpath.Rpath)

	p := New(tr.path("env1") + ":" + tr.path("env2")).withCache(cache{"libx.so.1": tr.path("cached/libx.so.1")})
	find := func(from *image.Image) string {
		path, err := p.Find("libx.so.1", from)
		if err != nil {
			assert.ErrorIs(t, err, ErrNotFound)
			return ""
		}
		rel, err := filepath.Rel(tr.dir, path)
		require.NoError(t, err)
		return filepath.Dir(rel)
	}
	assert.Empty(t, find(nil))
	for _, step := range []struct{ put, none, runpath, rpath string }{
		{"cached", "cached", "cached", "cached"},
		{"run", "cached", "run", "cached"},
		{"env2", "env2", "env2", "env2"},
		{"env1", "env1", "env1", "env1"},
		{"r", "env1", "env1", "r"},
	} {
		tr.lib(step.put+"/libx.so.1", nil)
		assert.Equal(t, step.none, find(nil), "%s, nobody", step.put)
		assert.Equal(t, step.runpath, find(runpath), "%s, RUNPATH", step.put)
		assert.Equal(t, step.rpath, find(rpath), "%s, RPATH", step.put)
	}
}

// An object's RPATH is void beside a RUNPATH, and those of its loaders are not
// looked at where it has a RUNPATH itself. LD_LIBRARY_PATH belongs to the program.
func TestDirectoriesBeforeCache(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	root := &image.Image{Path: "/root/program", Rpath: "/root/r:", Interp: "/lib64/ld-linux-x86-64.so.2"}
	middle := &image.Image{Path: "/middle/lib.so", Rpath: "/middle/r"}
	void := &image.Image{Path: "/void/lib.so", Rpath: "/void/r", Runpath: "/void/run"}
	plain := &image.Image{Path: "/plain/lib.so"}
	p := New("$ORIGIN/env")
	for name, c := range map[string]struct {
		loaders []*image.Image
		want    []string
	}{
		"root":               {[]*image.Image{root}, []string{"/root/r", ".", "/root/env"}},
		"inherited":          {[]*image.Image{plain, middle, root}, []string{"/middle/r", "/root/r", ".", "/root/env"}},
		"RUNPATH":            {[]*image.Image{void, middle, root}, []string{"/root/env", "/void/run"}},
		"no program":         {[]*image.Image{plain, middle}, []string{"/middle/r", filepath.Dir(exe) + "/env"}},
		"RUNPATH on the way": {[]*image.Image{plain, void, root}, []string{"/root/r", ".", "/root/env"}},
	} {
		assert.Equal(t, c.want, p.before(wish{loaders: c.loaders}), name)
	}
}

func TestFindMissing(t *testing.T) {
	tr := newTree(t)
	from := open(t, tr.lib("from.so", nil))
	_, err := New("").Find("libnowhere.so.9", from)
	require.ErrorIs(t, err, ErrNotFound)
	assert.EqualError(t, err, "find libnowhere.so.9, needed by "+from.Path+": not found")
	_, err = New("").Find("libnowhere.so.9", nil)
	assert.EqualError(t, err, "find libnowhere.so.9: not found")
	_, err = New("").Find(tr.path("nowhere.so"), nil)
	assert.ErrorIs(t, err, ErrNotFound)
}

// What a name is said to lead to wins over all places where ld.so would look, but not over a path.
func TestInstead(t *testing.T) {
	tr := newTree(t)
	other, named := tr.lib("other.so", nil), tr.lib("env/libx.so.1", nil)
	p := New(tr.path("env")).withCache(nil).Instead(map[string]string{"libx.so.1": other, "libgone.so.1": tr.path("gone.so")})
	for name, want := range map[string]string{"libx.so.1": other, named: named} {
		path, err := p.Find(name, nil)
		require.NoError(t, err)
		assert.Equal(t, want, path)
	}
	_, err := p.Find("libgone.so.1", nil)
	require.ErrorIs(t, err, ErrNotFound)
	closure, err := p.Closure(tr.lib("needs.so", []string{"libx.so.1"}))
	require.NoError(t, err)
	defer closure.Close()
	assert.Equal(t, other, closure.Find("libx.so.1").Path)
}

func TestFindDefaultDirectory(t *testing.T) {
	path, err := New("").withCache(nil).Find("libc.so.6", nil)
	require.NoError(t, err)
	assert.Equal(t, "/lib/x86_64-linux-gnu/libc.so.6", path)
}

func TestFindSlash(t *testing.T) {
	tr := newTree(t)
	from := open(t, tr.lib("sub/from.so", nil))
	tr.lib("libx.so", nil)
	want := tr.path("libx.so")
	find := func(t *testing.T, env, name, dir string) {
		path, err := New(env).In(dir).Find(name, from)
		require.NoError(t, err, "%s, LD_LIBRARY_PATH=%s", name, env)
		assert.Equal(t, want, path)
	}
	relative := func(t *testing.T, dir string) {
		find(t, "", "./libx.so", dir)
		for _, env := range []string{":/nowhere", "/nowhere;", "/nowhere::/x", "."} {
			find(t, env, "libx.so", dir)
		}
	}
	t.Run("folder named", func(t *testing.T) { relative(t, tr.dir) })
	t.Chdir(tr.dir)
	relative(t, "")
	for _, name := range []string{want, "$ORIGIN/../libx.so", "${ORIGIN}/../libx.so"} {
		find(t, "", name, "/nowhere")
	}
	_, err := New("").Find("libx.so", nil)
	assert.ErrorIs(t, err, ErrNotFound, "the working directory is not searched")
}

func TestFindSkipsOtherMachines(t *testing.T) {
	tr := newTree(t)
	other := tr.lib("a/libx.so", nil)
	want := tr.lib("b/libx.so", nil)
	data, err := os.ReadFile(other)
	require.NoError(t, err)
	p := New(tr.path("a") + ":" + tr.path("b"))
	for name, change := range map[string]func([]byte){
		"class":   func(b []byte) { b[4] = 1 },
		"machine": func(b []byte) { b[18] = 183 },
	} {
		b := append([]byte(nil), data...)
		change(b)
		require.NoError(t, os.WriteFile(other, b, 0o600))
		path, err := p.Find("libx.so", nil)
		require.NoError(t, err, name)
		assert.Equal(t, want, path)
	}
	require.NoError(t, os.WriteFile(other, []byte("text"), 0o600))
	_, err = p.Find("libx.so", nil)
	require.ErrorIs(t, err, image.ErrNotELF)
	assert.NotErrorIs(t, err, ErrNotFound)
	assert.ErrorContains(t, err, other)
}

func TestFindHwcaps(t *testing.T) {
	tr := newTree(t)
	tr.lib("libx.so", nil)
	p := New(tr.dir)
	p.hwcaps = func() []string { return []string{"best", "good"} }
	for _, want := range []string{"libx.so", "glibc-hwcaps/good/libx.so", "glibc-hwcaps/best/libx.so"} {
		tr.lib(want, nil)
		path, err := p.Find("libx.so", nil)
		require.NoError(t, err)
		assert.Equal(t, tr.path(want), path)
	}
}

// -z nodefaultlib keeps a library of the system from being found.
func TestNoDefaultDirectories(t *testing.T) {
	tr := newTree(t)
	from := open(t, tr.lib("from.so", nil, "-Wl,-z,nodefaultlib"))
	elsewhere := tr.lib("libx.so", nil)
	p := New("").withCache(cache{"libc.so.6": "/lib/x86_64-linux-gnu/libc.so.6", "libx.so": elsewhere})
	_, err := p.Find("libc.so.6", from)
	require.ErrorIs(t, err, ErrNotFound)
	path, err := p.Find("libx.so", from)
	require.NoError(t, err)
	assert.Equal(t, elsewhere, path)
}

func TestExpand(t *testing.T) {
	from := &image.Image{Path: "/opt/x/lib/liby.so"}
	for in, want := range map[string]string{
		"/a:b":              "/a:b",
		"$ORIGIN/../p":      "/opt/x/lib/../p",
		"${ORIGIN}x":        "/opt/x/libx",
		"$ORIGINx":          "$ORIGINx",
		"$ORIGIN_":          "$ORIGIN_",
		"${ORIGIN":          "${ORIGIN",
		"/u/$LIB/$PLATFORM": "/u/lib/x86_64-linux-gnu/x86_64",
		"$HOME":             "$HOME",
		"$$LIB":             "$lib/x86_64-linux-gnu",
	} {
		assert.Equal(t, want, expand(in, from), in)
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	assert.Equal(t, filepath.Dir(exe), expand("$ORIGIN", nil))
}

// A program's origin is where it is, not where a link to it is.
func TestOriginOfProgram(t *testing.T) {
	tr := newTree(t)
	tr.lib("real/libx.so", nil)
	flags := []string{"-Wl,-rpath,$ORIGIN"}
	tr.link("real/program", []string{"libx.so"}, append(flags, "-pie")...)
	tr.lib("real/liby.so", []string{"libx.so"}, flags...)
	for _, name := range []string{"program", "liby.so"} {
		require.NoError(t, os.Symlink("real/"+name, tr.path(name)))
	}
	c, err := New("").Closure(tr.path("program"))
	require.NoError(t, err)
	defer c.Close()
	assert.Equal(t, "libx.so => "+tr.path("real/libx.so"), c.paths())
	_, err = New("").Closure(tr.path("liby.so"))
	assert.ErrorIs(t, err, ErrNotFound)
}

func TestHwcapSubdirs(t *testing.T) {
	v2 := "flags\t\t: fpu cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"
	v3 := v2 + " avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
	v4 := v3 + " avx512f avx512bw avx512cd avx512dq avx512vl"
	for info, want := range map[string][]string{
		"":                                      nil,
		"processor : 0\n":                       nil,
		"flags\t\t: fpu cx16":                   nil,
		"vendor : x\n" + v2 + "\nflags : fpu\n": {"x86-64-v2"},
		v3 + "\n":                               {"x86-64-v3", "x86-64-v2"},
		v4 + "\n":                               {"x86-64-v4", "x86-64-v3", "x86-64-v2"},
		"flags : avx avx2 bmi1 bmi2 f16c fma abm movbe xsave\n": nil,
	} {
		assert.Equal(t, want, subdirsFor(info), info)
	}
}
