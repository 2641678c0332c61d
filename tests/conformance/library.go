// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A library is an MPI library that tests are built with.
type library struct {
	name, title string // as -mpi and file names have it; as a reader knows it
	compiler    string
	flags       []string          // of all sources
	says        *regexp.Regexp    // what MPI_Get_library_version says; the group is the version
	preload     string            // what makes flat ranks yield where they are more than the cores, if mpiexec does not see to that; "": it does
	leftOut     map[string]string // directories whose tests need what neither side of the comparison has, and why
	foreign     string            // how variables begin that only another library reads; "": none do
}

// The suite's support library calls functions that MPI 3.0 removed. Open MPI has them, and declares them for those who ask.
var (
	mpich = library{
		name: "mpich", title: "MPICH", compiler: "mpicc.mpich",
		says:    regexp.MustCompile(`MPICH Version:\s*(\S+)`),
		preload: "lib/tpsl/libtpslyield.so",
		leftOut: map[string]string{"ft": "fault tolerance: ch4:ucx waits for ever for a dead rank, under mpiexec.hydra too"},
	}
	openMPI = library{
		name: "openmpi", title: "Open MPI", compiler: "mpicc.openmpi",
		flags:   []string{"-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "-DOMPI_REMOVED_USE_STATIC_ASSERT=0"},
		says:    regexp.MustCompile(`Open MPI v([^\s,]+)`),
		leftOut: map[string]string{"ft": "fault tolerance: Open MPI 4.1 has none"},
		foreign: "MPIR_CVAR_",
	}
	libraries = map[string]library{mpich.name: mpich, openMPI.name: openMPI}
)

const saysVersion = `#include <mpi.h>
#include <stdio.h>
int main(void)
{
	char said[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;
	MPI_Get_library_version(said, &length);
	puts(said);
}
`

// version asks the library for its version, by a program.
func (l library) version() (string, error) {
	out, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(out)
	source, program := filepath.Join(out, "version.c"), filepath.Join(out, "version")
	if err := os.WriteFile(source, []byte(saysVersion), 0o666); err != nil {
		return "", err
	}
	if err := command(l.compiler, "-o", program, source); err != nil {
		return "", fmt.Errorf("build with %s: %w", l.compiler, err)
	}
	said, _, _, err := testsupport.Output(time.Minute, nil, program)
	if err != nil {
		return "", err
	}
	version := l.says.FindStringSubmatch(said)
	if version == nil {
		return "", fmt.Errorf("%s builds with another library than %s: %s", l.compiler, l.title, strings.SplitN(said, "\n", 2)[0])
	}
	return version[1], nil
}

// relevant returns the tests without the variables that mean nothing to the library, and each of those that are then
// alike once. Tests of directories that are left out say so, unless they are left out anyway.
func (l library) relevant(tests []test) []test {
	var kept []test
	seen := map[string]bool{}
	for _, t := range tests {
		if l.foreign != "" {
			t.env = slices.DeleteFunc(slices.Clone(t.env), func(e string) bool { return strings.HasPrefix(e, l.foreign) })
		}
		t.left = cmp.Or(t.left, l.leftOut[t.dir])
		if !seen[t.name()] {
			seen[t.name()] = true
			kept = append(kept, t)
		}
	}
	return kept
}

var suiteVersion = regexp.MustCompile(`m4_define\(\[MPICH_VERSION_m4\],\s*\[([^\]]+)\]\)`)

// versionOfSuite returns the version of MPICH whose folder test/mpi the suite is.
func versionOfSuite(suite string) (string, error) {
	path := filepath.Join(suite, "../../maint/version.m4")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s is not there, which tells the version of the tests: name the folder test/mpi of a checkout of MPICH", path)
	}
	if err != nil {
		return "", err
	}
	version := suiteVersion.FindSubmatch(text)
	if version == nil {
		return "", fmt.Errorf("%s does not tell MPICH's version", path)
	}
	return string(version[1]), nil
}
