// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A builder compiles tests as the suite's Makefiles do, without its configure.
type builder struct {
	suite, out string
	flags      []string // for all sources
	rules      map[string]map[string]rule
}

// A rule is what a Makefile says about one program.
type rule struct{ sources, flags []string }

// What configure finds on the machines that we know.
var configured = map[string]string{
	"dtpoolsconf.h": "",
	"include/mpitestconf.h": `#include <inttypes.h>
#define HAVE_FORTRAN_BINDING 1
#define HAVE_GETRUSAGE 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_LONG 1
#define HAVE_FLOAT__COMPLEX 1
#define HAVE_DOUBLE__COMPLEX 1
#define HAVE_LONG_DOUBLE__COMPLEX 1
#define HAVE__BOOL 1
#define HAVE_MPI_INTEGER16 1
#define HAVE_MPI_IO 1
#define HAVE_MPI_WIN_CREATE 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_STRINGS_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_UNISTD_H 1
#define POINTERINT_t intptr_t
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
`,
}

// newBuilder compiles what all tests are linked with into the folder out.
func newBuilder(suite, out string) (*builder, error) {
	suite, err := filepath.Abs(suite)
	if err != nil {
		return nil, err
	}
	if out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	b := &builder{suite: suite, out: out, rules: map[string]map[string]rule{}}
	b.flags = []string{"-w", "-O1", "-I" + out + "/include", "-I" + suite + "/include", "-I" + suite + "/dtpools/include"}
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		path := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(configured[name]), 0o666); err != nil {
			return nil, err
		}
	}
	if err := b.prefixed(); err != nil {
		return nil, err
	}
	pools, _ := filepath.Glob(filepath.Join(suite, "dtpools/src/*.c"))
	sources := append(pools, suite+"/util/mtest.c", suite+"/util/mtest_common.c", suite+"/util/dtypes.c")
	return b, b.common(sources)
}

var function = regexp.MustCompile(`\bMPIX_(\w+)\(`)

// prefixed writes mtest_mpix.h: the suite says MPI_X for functions that the library
// has as MPIX_X only.
func (b *builder) prefixed() error {
	source := filepath.Join(b.out, "mpi.c")
	if err := os.WriteFile(source, []byte("#include <mpi.h>\n"), 0o666); err != nil {
		return err
	}
	declared, stderr, code, err := testsupport.Output(time.Minute, nil, "mpicc.mpich", "-E", source)
	if err == nil && code != 0 {
		err = errors.New(firstError(stderr))
	}
	if err != nil {
		return fmt.Errorf("preprocess mpi.h: %w", err)
	}
	var header strings.Builder
	for _, m := range function.FindAllStringSubmatch(declared, -1) {
		if !strings.Contains(declared, " MPI_"+m[1]+"(") {
			fmt.Fprintf(&header, "#define MPI_%s MPIX_%s\n", m[1], m[1])
		}
	}
	return os.WriteFile(filepath.Join(b.out, "include/mtest_mpix.h"), []byte(header.String()), 0o666)
}

// common compiles the objects that a program is linked with.
func (b *builder) common(sources []string) error {
	for _, source := range sources {
		if err := b.compile("-c", source, "-o", b.object(source)); err != nil {
			return err
		}
	}
	if err := b.compile("-c", b.suite+"/util/mtest_single.c", "-o", b.out+"/mtest_single.o"); err != nil {
		return err
	}
	return b.compile("-DMTEST_USE_THREAD", "-c", b.suite+"/util/mtest_thread.c", "-o", b.out+"/mtest_thread.o")
}

func (b *builder) object(source string) string {
	return filepath.Join(b.out, "common", strings.TrimSuffix(filepath.Base(source), ".c")+".o")
}

func (b *builder) compile(args ...string) error {
	for i, arg := range args {
		if arg == "-o" {
			if err := os.MkdirAll(filepath.Dir(args[i+1]), 0o777); err != nil {
				return err
			}
		}
	}
	command := append(append([]string{"mpicc.mpich"}, b.flags...), args...)
	_, stderr, code, err := testsupport.Output(2*time.Minute, nil, command...)
	if err == nil && code != 0 {
		err = errors.New(firstError(stderr))
	}
	return err
}

var errorLine = regexp.MustCompile(`(?m)(?:error: |undefined reference to ).*$`)

func firstError(stderr string) string {
	if line := errorLine.FindString(stderr); line != "" {
		return line
	}
	return strings.SplitN(stderr, "\n", 2)[0]
}

// program is the path of t's program.
func (b *builder) program(t test) string {
	return filepath.Join(b.out, "bin", t.dir, t.program)
}

// build compiles t's program, if it is not there yet.
func (b *builder) build(t test) error {
	if t.left != "" {
		return errors.New(t.left)
	}
	if _, err := os.Stat(b.program(t)); err == nil {
		return nil
	}
	r, err := b.rule(t)
	if err != nil {
		return err
	}
	args := append([]string{"-o", b.program(t)}, r.flags...)
	for _, source := range r.sources {
		args = append(args, filepath.Join(b.suite, t.dir, source))
	}
	framework := b.out + "/mtest_single.o"
	if strings.HasPrefix(t.dir, "threads/") {
		args = append(args, "-DMTEST_USE_THREAD")
		framework = b.out + "/mtest_thread.o"
	}
	objects, _ := filepath.Glob(filepath.Join(b.out, "common/*.o"))
	return b.compile(append(append(args, framework), append(objects, "-lpthread", "-lm")...)...)
}

var assignment = regexp.MustCompile(`(?m)^(\w+)_(SOURCES|CPPFLAGS)\s*=(.*)$`)

// rule returns what the directory's Makefile.am says about t's program.
func (b *builder) rule(t test) (rule, error) {
	if b.rules[t.dir] == nil {
		text, err := os.ReadFile(filepath.Join(b.suite, t.dir, "Makefile.am"))
		if err != nil {
			return rule{}, fmt.Errorf("no Makefile.am in %s", t.dir)
		}
		b.rules[t.dir] = rulesOf(string(text))
	}
	r := b.rules[t.dir][t.program]
	if r.sources == nil {
		r.sources = []string{t.program + ".c"}
		if _, err := os.Stat(filepath.Join(b.suite, t.dir, r.sources[0])); err != nil {
			return rule{}, errors.New("no source in C")
		}
	}
	return r, nil
}

func rulesOf(makefile string) map[string]rule {
	rules := map[string]rule{}
	for _, m := range assignment.FindAllStringSubmatch(strings.ReplaceAll(makefile, "\\\n", " "), -1) {
		r := rules[m[1]]
		for _, word := range strings.Fields(m[3]) {
			switch {
			case m[2] == "SOURCES" && strings.HasSuffix(word, ".c"):
				r.sources = append(r.sources, word)
			case m[2] == "CPPFLAGS" && strings.HasPrefix(word, "-"):
				r.flags = append(r.flags, word)
			}
		}
		rules[m[1]] = r
	}
	return rules
}

// each builds the tests' programs and hands each to do, in order, with what kept
// it from being built. The next ones are built while do works.
func (b *builder) each(tests []test, do func(test, error) error) error {
	type built struct {
		test
		err error
	}
	ready := make(chan built, 8)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(ready)
		for _, t := range tests {
			select {
			case ready <- built{t, b.build(t)}:
			case <-stop:
				return
			}
		}
	}()
	for r := range ready {
		if err := do(r.test, r.err); err != nil {
			return err
		}
	}
	return nil
}
