// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
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
	tools
	library    library
	suite, out string
	flags      []string // of all sources
	rules      map[string]map[string]rule
	objects    []string        // that programs are linked with
	driven     map[string]bool // programs "directory/name" whose main is the suite's driver
}

// tools make programs for a mode.
type tools interface {
	// common are sources of ours that each program has beside the suite's.
	common() []unit
	// translate makes the objects of units; shared tells that all programs are linked with them.
	translate(units []unit, shared bool) error
	link(program string, objects []string) error
}

// A unit is a source to translate.
type unit struct {
	source, object string
	flags          []string
}

// A rule is what a Makefile says about one program.
type rule struct{ sources, flags []string }

// What configure finds on the machines that we know.
var configured = map[string]string{
	"dtpoolsconf.h": "",
	"include/mpitestconf.h": `#include <inttypes.h>
#include <mpi.h>
#define HAVE_FORTRAN_BINDING 1
#define HAVE_GETRUSAGE 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_LONG 1
#define HAVE_FLOAT__COMPLEX 1
#define HAVE_DOUBLE__COMPLEX 1
#define HAVE_LONG_DOUBLE__COMPLEX 1
#define HAVE__BOOL 1
#ifdef MPI_INTEGER16
#define HAVE_MPI_INTEGER16 1
#endif
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
func newBuilder(l library, suite, out string, with tools) (*builder, error) {
	suite, err := filepath.Abs(suite)
	if err != nil {
		return nil, err
	}
	if out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	b := &builder{tools: with, library: l, suite: suite, out: out, rules: map[string]map[string]rule{}}
	b.flags = slices.Concat([]string{"-w", "-O1", "-I" + out + "/include", "-I" + suite + "/include", "-I" + suite + "/dtpools/include"}, l.flags)
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
	if err := b.readDriven(); err != nil {
		return nil, err
	}
	return b, b.makeCommon()
}

// readDriven reads which tests are functions that util/run_mpitests.c calls: none before MPICH 5.0.
func (b *builder) readDriven() error {
	b.driven = map[string]bool{}
	text, err := os.ReadFile(filepath.Join(b.suite, "maint/all_mpitests.txt"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(line, "#") {
			b.driven[words[0]] = true
		}
	}
	return err
}

var function = regexp.MustCompile(`\bMPIX_(\w+)\(`)

// prefixed writes mtest_mpix.h: the suite says MPI_X for functions that the library
// has as MPIX_X only.
func (b *builder) prefixed() error {
	source := filepath.Join(b.out, "mpi.c")
	if err := os.WriteFile(source, []byte("#include <mpi.h>\n"), 0o666); err != nil {
		return err
	}
	declared, stderr, code, err := testsupport.Output(time.Minute, nil, b.library.compiler, "-E", source)
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

// makeCommon makes the objects that programs are linked with.
func (b *builder) makeCommon() error {
	sources, _ := filepath.Glob(filepath.Join(b.suite, "dtpools/src/*.c"))
	for _, name := range []string{"mtest.c", "mtest_common.c", "dtypes.c"} {
		sources = append(sources, filepath.Join(b.suite, "util", name))
	}
	units := b.common()
	for _, source := range sources {
		units = append(units, unit{source: source})
	}
	for i := range units {
		units[i].object = filepath.Join(b.out, "common", strings.TrimSuffix(filepath.Base(units[i].source), ".c")+".o")
		b.objects = append(b.objects, units[i].object)
	}
	units = append(units,
		unit{source: b.suite + "/util/mtest_single.c", object: b.out + "/mtest_single.o"},
		unit{source: b.suite + "/util/mtest_thread.c", object: b.out + "/mtest_thread.o", flags: []string{"-DMTEST_USE_THREAD"}})
	if len(b.driven) > 0 {
		units = append(units, unit{source: b.suite + "/util/run_mpitests.c", object: b.out + "/run_mpitests.o"})
	}
	return b.make(units, true)
}

// make translates units, with the flags that all sources have.
func (b *builder) make(units []unit, shared bool) error {
	for i, u := range units {
		units[i].flags = append(slices.Clone(b.flags), u.flags...)
		if err := os.MkdirAll(filepath.Dir(u.object), 0o777); err != nil {
			return err
		}
	}
	return b.translate(units, shared)
}

// command runs a compiler or linker; its error is the first one that it tells.
func command(argv ...string) error {
	_, stderr, code, err := testsupport.Output(2*time.Minute, nil, argv...)
	if err == nil && code != 0 {
		err = errors.New(firstError(stderr))
	}
	return err
}

// flatTools make programs that run flat and in private mode.
type flatTools struct{ compiler string }

func (flatTools) common() []unit { return nil }

func (f flatTools) translate(units []unit, _ bool) error {
	for _, u := range units {
		if err := command(append([]string{f.compiler, "-c", u.source, "-o", u.object}, u.flags...)...); err != nil {
			return err
		}
	}
	return nil
}

func (f flatTools) link(program string, objects []string) error {
	return command(append(append([]string{f.compiler, "-o", program}, objects...), "-lpthread", "-lm")...)
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
	flags, framework := r.flags, b.out+"/mtest_single.o"
	if strings.HasPrefix(t.dir, "threads/") {
		flags = append(slices.Clone(flags), "-DMTEST_USE_THREAD")
		framework = b.out + "/mtest_thread.o"
	}
	var units []unit
	objects := append(slices.Clone(b.objects), framework)
	if b.driven[t.dir+"/"+t.program] {
		objects = append(objects, b.out+"/run_mpitests.o")
	}
	for _, source := range r.sources {
		object := fmt.Sprintf("%s.%s.o", b.program(t), strings.TrimSuffix(filepath.Base(source), ".c"))
		units = append(units, unit{filepath.Join(b.suite, t.dir, source), object, flags})
		objects = append(objects, object)
	}
	if err := b.make(units, false); err != nil {
		return err
	}
	return b.link(b.program(t), objects)
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
