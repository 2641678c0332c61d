// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package scripts has tests of the scripts for developers.
package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A script that measures jobs in the background ends them with itself, and nothing else: here make fails before there is one, and the
// script's caller, which is in its process group, goes on. Its work folder goes.
func TestScriptsEndTheirJobsOnly(t *testing.T) {
	testsupport.NothingLeft(t)
	tools, work := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tools, "make"), []byte("#!/bin/sh\nexit 7\n"), 0o755))
	env := []string{"PATH=" + tools + ":" + os.Getenv("PATH"), "TMPDIR=" + work}
	for _, name := range []string{"memory", "trace-overhead"} {
		script := filepath.Join(testsupport.Root(t), "scripts", name)
		out, stderr, code := testsupport.Run(t, time.Minute, env, "sh", "-c", `"$0"; echo code $?`, script)
		assert.Zero(t, code, name)
		assert.Equal(t, "code 7\n", out, "%s: %s", name, stderr)
		left, err := os.ReadDir(work)
		require.NoError(t, err)
		assert.Empty(t, left, name)
	}
}

// Wrong usage of conformance is told in one line, before anything is installed or built.
func TestConformanceRefusals(t *testing.T) {
	script := filepath.Join(testsupport.Root(t), "scripts", "conformance")
	env := []string{"PATH=" + tools(t, []string{"bash", "dirname", "realpath"}, nil)}
	for arguments, want := range map[string]string{
		"":                            "name a checkout of MPICH; scripts/conformance -h tells more",
		"-fast suite":                 "-fast is no option: scripts/conformance -h lists them",
		"-mpi lam suite":              "-mpi lam: neither mpich nor openmpi",
		"-mode flat suite":            "-mode flat: neither private nor shared",
		"-mpi openmpi -mode shared x": "-mpi openmpi -mode shared: threads cannot be ranks over Open MPI's own ABI; say -mode private",
	} {
		t.Run(arguments, func(t *testing.T) {
			_, stderr, code := testsupport.Run(t, time.Minute, env, append([]string{script}, strings.Fields(arguments)...)...)
			assert.Equal(t, 1, code)
			assert.Equal(t, "conformance: "+want+"\n", stderr)
		})
	}
}

// tools makes a folder with some commands of the machine, and fakes of others, which do nothing but end with a status.
func tools(t *testing.T, commands []string, fakes map[string]int) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range commands {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	for name, status := range fakes {
		script := fmt.Sprintf("#!/bin/sh\nexit %d\n", status)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	return dir
}

// Where quickstart cannot install what it takes it says what that is, by the names of the distribution.
func TestQuickstartSaysWhatToInstall(t *testing.T) {
	testsupport.NothingLeft(t)
	basic := []string{"bash", "dirname", "env", "id", "sed"}
	quickstart := filepath.Join(testsupport.Root(t), "scripts", "quickstart")
	for _, c := range []struct {
		name  string
		fakes map[string]int
		want  string
	}{
		{"dnf", map[string]int{"dnf": 0, "gcc": 0}, "quickstart: this is not Debian, and these are missing: gfortran go make. Install them, then run this again:\n" +
			"    dnf install gcc gcc-gfortran glibc-devel golang make mpich-devel\n    export LD_LIBRARY_PATH=/usr/lib64/mpich/lib\n"},
		{"zypper", map[string]int{"zypper": 0, "go": 0}, "quickstart: this is not Debian, and these are missing: gcc gfortran make. Install them, then run this again:\n" +
			"    zypper install gcc gcc-fortran glibc-devel go make mpich-devel\n" +
			"    export LD_LIBRARY_PATH=/usr/lib64/mpi/gcc/mpich/lib64 TPSL_MPI_INCLUDE=/usr/lib64/mpi/gcc/mpich/include\n"},
		{"pacman", map[string]int{"pacman": 0}, "quickstart: this is not Debian, and these are missing: gcc gfortran go make. Install them, then run this again:\n" +
			"    pacman -S gcc gcc-fortran go make, and mpich from the AUR\n    export LD_LIBRARY_PATH=/opt/mpich/lib TPSL_MPI_INCLUDE=/opt/mpich/include\n"},
		{"another", nil, "quickstart: this is not Debian, and these are missing: gcc gfortran go make. Install them, then run this again:\n" +
			"    gcc, gfortran, make, Go, and MPICH with its headers: https://www.mpich.org/downloads\n"},
		{"no network", map[string]int{"apt-get": 100, "dpkg-query": 1, "sudo": 100}, "quickstart: apt-get could not install packages. " +
			"Without a network, install these by other means, then run this again: ca-certificates gcc gfortran libc6-dev libmpich-dev make\n"},
		{"no Go", map[string]int{"dnf": 0, "gcc": 0, "gfortran": 0, "make": 0, "go": 1},
			"quickstart: needs Go " + goVersion(t) + " or newer: install it from https://go.dev/dl and put it in PATH\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stderr, code := testsupport.Run(t, time.Minute, []string{"PATH=" + tools(t, basic, c.fakes)}, quickstart)
			assert.Equal(t, 1, code)
			assert.Equal(t, c.want, stderr)
		})
	}
}

// Who asks a benchmark for help gets it on a machine that lacks what the benchmark takes, and nothing is installed.
func TestHelpInstallsNothing(t *testing.T) {
	testsupport.NothingLeft(t)
	bare := tools(t, nil, map[string]int{"apt-get": 100, "dpkg-query": 1, "sudo": 100})
	for _, name := range []string{"bench", "bench-engine", "bench-rdma"} {
		for _, option := range []string{"-h", "--help"} {
			stdout, stderr, code := testsupport.Run(t, 5*time.Minute, []string{"PATH=" + bare + ":" + os.Getenv("PATH")}, filepath.Join(testsupport.Root(t), "scripts", name), option)
			assert.Zero(t, code, stderr)
			assert.Contains(t, stdout+stderr, "usage: scripts/"+name+" [")
			assert.NotContains(t, stderr, "== install")
		}
	}
}

// A C library that tpsl is not made for is named in one line before anything is built. The compilers are fakes that expand the
// macros as those of other systems do.
func TestNeedLibc(t *testing.T) {
	script := filepath.Join(testsupport.Root(t), "scripts", "need-libc")
	for expanded, want := range map[string]string{
		"fit 1 1 2 34":                      "",
		"fit 1 1 2 43":                      "",
		"fit 1 1 3 0":                       "",
		"fit 1 1 2 31":                      "tpsl needs glibc 2.34 or newer, which Debian 12, Ubuntu 22.04 and EL 9 have, and CC compiles for glibc 2.31\n",
		"fit 1 1 __GLIBC__ __GLIBC_MINOR__": "tpsl is for glibc, and CC compiles for another C library\n",
		"fit __x86_64__ 1 2 36":             "tpsl is for x86-64 Linux, and CC compiles for another machine\n",
		"":                                  "tpsl needs a C compiler and the headers of the C library, and CC cannot read <features.h>: install gcc and libc6-dev (glibc-devel)\n",
	} {
		compiler := filepath.Join(t.TempDir(), "cc")
		require.NoError(t, os.WriteFile(compiler, []byte("#!/bin/sh\ncat >/dev/null\necho '"+expanded+"'\n"), 0o755))
		_, stderr, code := testsupport.Run(t, time.Minute, []string{"CC=" + compiler}, script)
		assert.Equal(t, strings.ReplaceAll(want, "CC", compiler), stderr, expanded)
		assert.Equal(t, want != "", code == 1, expanded)
	}
	_, stderr, code := testsupport.Run(t, time.Minute, nil, script)
	assert.Zero(t, code, stderr)
}

// goVersion returns the version of Go that go.mod asks for.
func goVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testsupport.Root(t), "go.mod"))
	require.NoError(t, err)
	return regexp.MustCompile(`(?m)^go (.*)$`).FindStringSubmatch(string(text))[1]
}
