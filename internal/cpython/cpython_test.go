// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package cpython

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/search"
)

// write makes a file that can be run.
func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

// made compiles a program that is taken for CPython.
func made(t *testing.T, flags ...string) string {
	t.Helper()
	source := write(t, filepath.Join(t.TempDir(), "python.c"), "int Py_BytesMain(int c, char **v) { return c == 0 && v; } int main(int c, char **v) { return Py_BytesMain(c, v); }")
	return testsupport.CC(t, "gcc", source, append(flags, "-rdynamic")...)
}

// What runs a program, and with which arguments, is what the kernel and env(1) would start.
func TestFind(t *testing.T) {
	folder := t.TempDir()
	fixed, pie := made(t, "-no-pie"), made(t, "-pie", "-fPIE")
	script := func(name, line string) string { return write(t, filepath.Join(folder, name), line+"\nprint(1)\n") }
	inner := script("inner", "#!"+pie+" -u")
	deep := inner
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		deep = script(name, "#!"+deep)
	}
	looked := func(name string) (string, error) {
		if name == "python3" {
			return fixed, nil
		}
		return "", os.ErrNotExist
	}
	fifo := filepath.Join(folder, "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o700))
	long := script("long", "#!"+pie+" "+strings.Repeat("x", lineLimit))
	for name, c := range map[string]struct {
		program string
		want    *Interpreter
	}{
		"fixed":            {fixed, &Interpreter{Path: fixed, Args: []string{"typed"}, Fixed: true}},
		"PIE":              {pie, &Interpreter{Path: pie, Args: []string{"typed"}}},
		"another program":  {"/bin/true", nil},
		"no file":          {folder + "/none", nil},
		"folder":           {folder, nil},
		"FIFO":             {fifo, nil},
		"script of a FIFO": {script("odd", "#!"+fifo), nil},
		"device":           {"/dev/zero", nil},
		"script":           {script("plain", "#!"+pie), &Interpreter{Path: pie, Args: []string{pie, folder + "/plain"}}},
		"blanks":           {script("blanks", "#! \t"+pie+" \t-I -S\t "), &Interpreter{Path: pie, Args: []string{pie, "-I -S", folder + "/blanks"}}},
		"of a script":      {script("outer", "#!"+inner+" -E"), &Interpreter{Path: pie, Args: []string{pie, "-u", inner, "-E", folder + "/outer"}}},
		"of many scripts":  {deep, nil},
		"relative":         {script("relative", "#!plain"), &Interpreter{Path: pie, Args: []string{pie, folder + "/plain", folder + "/relative"}}},
		"cut off":          {long, nil},
		"shell":            {script("shell", "#!/bin/sh"), nil},
		"no first line":    {script("none", "print(2)"), nil},
		"empty first line": {script("empty", "#! "), nil},
		"env":              {script("env", "#!/usr/bin/env python3"), &Interpreter{Path: fixed, Args: []string{"python3", folder + "/env"}, Fixed: true}},
		"env, missing":     {script("missing", "#!/usr/bin/env python4"), nil},
		"env, words":       {script("words", "#!/usr/bin/env python3 -u"), nil},
		"env -S":           {script("split", "#!/usr/bin/env -S python3 -W 'a b'"), &Interpreter{Path: fixed, Args: []string{"python3", "-W", "a b", folder + "/split"}, Fixed: true}},
		"env, setting":     {script("setting", "#!/usr/bin/env -S A=1 python3"), nil},
		"env, option":      {script("option", "#!/usr/bin/env -i python3"), nil},
		"env, nothing":     {script("nothing", "#!/usr/bin/env"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Find(c.program, "typed", Place{Dir: folder, Look: looked})
			require.NoError(t, err)
			if got != nil {
				got.place = Place{}
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// A shim is asked in the environment and the folder of the program, and only once.
func TestShim(t *testing.T) {
	pie, folder := made(t, "-pie", "-fPIE"), t.TempDir()
	answer := `printf '\0tpsl\0%s\0003.11.2\0libnone.so.1\0/usr' `
	shim := write(t, filepath.Join(folder, "python3"), "#!/bin/sh\necho asked $1 $2 $3 $A $PWD $LD_PRELOAD >>"+folder+"/asked\necho chatter\n"+answer+pie+"\n")
	i, err := Find(shim, "python3", Place{Env: []string{"A=b", "LD_PRELOAD=/none.so"}, Dir: folder})
	require.NoError(t, err)
	assert.Equal(t, []string{pie}, i.Args)
	assert.Equal(t, pie, i.Path)
	_, err = i.Library(search.New(""))
	assert.ErrorContains(t, err, "libnone.so.1 of the same version 3.11.2, which is not installed")
	asked, err := os.ReadFile(folder + "/asked")
	require.NoError(t, err)
	assert.Equal(t, "asked -I -S -c b "+folder+"\n", string(asked))
	for _, name := range []string{"python", "python3.13t", "python2.7"} {
		assert.True(t, isShim(write(t, filepath.Join(folder, name), "#!/bin/sh\n")), name)
	}
	for _, name := range []string{"python-config", "python3-pytest", "ipython", "pythonic.sh"} {
		assert.False(t, isShim(write(t, filepath.Join(folder, name), "#!/bin/sh\n")), name)
	}
}

// A shim that does not answer, or not to the question, is not waited for, and leaves nothing.
func TestShimWithoutAnswer(t *testing.T) {
	testsupport.NothingLeft(t)
	defer func(limit time.Duration) { askLimit = limit }(askLimit)
	folder := t.TempDir()
	for text, want := range map[string]string{
		"sleep 60 & sleep 60":           "/python3 what Python it is: no answer in 200ms",
		"exit 3":                        "/python3 what Python it is: it gave no answer",
		"echo one >&2; echo two; false": "/python3 what Python it is: one",
		"echo anything":                 "/python3 what Python it is: it gave no answer",
		`printf '\0tpsl\0a\0b\0'`:       "/python3 what Python it is: it gave no answer",
	} {
		shim := write(t, filepath.Join(folder, "python3"), "#!/bin/sh\n"+text+"\n")
		askLimit = time.Minute
		if strings.HasPrefix(text, "sleep") {
			askLimit = 200 * time.Millisecond
		}
		_, err := Find(shim, "python3", Place{Dir: folder})
		assert.ErrorContains(t, err, want, text)
	}
}

// Debian's interpreter has the version of its library, which lies where ld.so finds it.
func TestLibrary(t *testing.T) {
	const program = "/usr/bin/python3"
	i, err := Find(program, program, Place{Dir: "/", Env: os.Environ()})
	if err != nil || i == nil || !i.Fixed {
		testsupport.Unable(t, "there is no Debian's interpreter: %v", err)
	}
	file, err := i.Library(search.New(""))
	require.NoError(t, err)
	assert.Regexp(t, `/libpython3\.\d+\.so\.1\.0$`, file)
	assert.True(t, isVersion(file, i.facts.version))
	assert.False(t, isVersion(file, i.facts.version+"1"))
	assert.False(t, isVersion("/bin/true", i.facts.version))
	assert.False(t, isVersion("/etc/passwd", i.facts.version))
}
