// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// halves is shared mode with two processes.
var halves = mode{"halves", func(t test) []string { return []string{"-rpp", strconv.Itoa((t.ranks + 1) / 2)} }}

// TestSample runs the tests of scripts/conformance.sample: what passes in a mode must go on
// to pass.
func TestSample(t *testing.T) {
	suite, tests := sample(t, mpich)
	testsupport.Require(t, "clang")
	for _, m := range []mode{private, shared, halves} {
		t.Run(m.name, func(t *testing.T) { allPass(t, mpich, m, suite, tests) })
	}
}

// TestSampleOpenMPI does the same with Open MPI: those of the sample that pass by the ledger of the installed version. Open MPI 4.1.4
// hangs now and then where several threads make communicators, under its own mpirun too, so tests of that are left out.
func TestSampleOpenMPI(t *testing.T) {
	suite, tests := sample(t, openMPI)
	version, err := openMPI.version()
	require.NoError(t, err)
	book, err := readLedger(ledger{library: openMPI, version: version, mode: private.name}.path("docs/results"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no ledger of Open MPI " + version)
	}
	require.NoError(t, err)
	tests = slices.DeleteFunc(openMPI.relevant(tests), func(s test) bool {
		r := book.results[s.name()]
		return r.flat != pass || r.ours != pass || s.dir == "threads/comm"
	})
	assert.Greater(t, len(tests), 50)
	allPass(t, openMPI, private, suite, tests)
}

// sample returns the suite, and the tests of scripts/conformance.sample in it, and goes to the root folder.
func sample(t *testing.T, l library) (suite string, tests []test) {
	suite = os.Getenv("TPSL_TEST_MPICH")
	if suite == "" {
		t.Skip("TPSL_TEST_MPICH does not name the folder test/mpi of MPICH's source")
	}
	testsupport.Require(t, l.compiler)
	t.Chdir(testsupport.Build(t))
	all, err := readSuite(suite, limit)
	require.NoError(t, err)
	byName := map[string]test{}
	for _, s := range all {
		byName[s.name()] = s
	}
	text, err := os.ReadFile("scripts/conformance.sample")
	require.NoError(t, err)
	for _, name := range strings.Split(string(text), "\n") {
		if name == "" || name[0] == '#' {
			continue
		}
		s, known := byName[name]
		require.True(t, known, "%s is not in the suite", name)
		tests = append(tests, s)
	}
	return suite, tests
}

// allPass runs tests flat and in a mode.
func allPass(t *testing.T, l library, m mode, suite string, tests []test) {
	testsupport.NothingLeft(t)
	c, err := newComparison(l, m, suite, "build/conformance/sample/"+l.name)
	require.NoError(t, err)
	for _, s := range tests {
		t.Run(s.name(), func(t *testing.T) {
			require.NoError(t, c.ours.build(s))
			r := c.run(s)
			assert.Equal(t, [2]string{pass, pass}, [2]string{r.flat, r.ours}, "flat and %s: %s", m.name, r.note)
		})
	}
}

const limit = 30 * time.Second

// TestPrivateOptions: a test of one rank runs as a private rank, too, and not as a process.
func TestPrivateOptions(t *testing.T) {
	root := testsupport.Build(t)
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "cc", "testdata/where.c")
	for ranks, want := range map[int]string{1: "private\n", 2: "private\nprivate\n"} {
		argv := append([]string{filepath.Join(root, "bin/mpiexec"), "-n", strconv.Itoa(ranks)}, private.options(test{ranks: ranks})...)
		stdout, stderr, code := testsupport.Run(t, time.Minute, nil, append(argv, program)...)
		assert.Zero(t, code, stderr)
		assert.Equal(t, want, stdout)
	}
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		line string
		want test
		is   bool
	}{
		"plain":     {"attrt 2", test{program: "attrt", ranks: 2, limit: limit}, true},
		"options":   {"p 4 arg=-a arg=b=c env=X=1 resultTest=TestStatus timeLimit=10", test{program: "p", ranks: 4, args: []string{"-a", "b=c"}, env: []string{"X=1"}, judge: "TestStatus", limit: 10 * time.Second}, true},
		"long time": {"p 1 timeLimit=600", test{program: "p", ranks: 1, limit: limit}, true},
		"eight":     {"p 8", test{program: "p", ranks: 8, limit: 2 * limit}, true},
		"overlap":   {"@comm_overlap@p 4", test{program: "p", ranks: 4, limit: limit}, true},
		"large":     {"@largetest@p 4", test{program: "p", ranks: 4, limit: limit, left: "configure leaves it out: largetest"}, true},
		"memory":    {"p 1 mem=6.5", test{program: "p", ranks: 1, limit: limit, left: "needs 6.5 GiB"}, true},
		"fails":     {"p 1 xfail=ticket1", test{program: "p", ranks: 1, limit: limit, left: "the suite expects it to fail: ticket1"}, true},
		"comment":   {"# p 4", test{}, false},
		"folder":    {"@rmadir@", test{}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.is {
				c.want.dir = "d"
			}
			got, is := parse("d", c.line, limit)
			assert.Equal(t, c.is, is)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestJudge(t *testing.T) {
	cases := map[string]struct {
		rule, output string
		code         int
		wrong        string
	}{
		"good":             {"", " No Errors\n", 0, ""},
		"other output":     {"", "oops\n No Errors\n", 0, "oops"},
		"nothing":          {"", "", 0, "does not say No Errors once"},
		"twice":            {"", "No Errors\nNo Errors\n", 0, "does not say No Errors once"},
		"status":           {"", " No Errors\n", 3, "exit status 3"},
		"status wanted":    {"TestStatus", "anything\n", 1, ""},
		"no status":        {"TestStatus", "", 0, "exit status 0, not another"},
		"fatal":            {"TestErrFatal", "Fatal error\n", 8, ""},
		"both, good":       {"TestStatusNoErrors", " No Errors\n", 1, ""},
		"both, no status":  {"TestStatusNoErrors", " No Errors\n", 0, "exit status 0, not another"},
		"both, no message": {"TestStatusNoErrors", "", 1, "does not say No Errors once"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.wrong, judge(c.rule, c.output, c.code)) })
	}
}

func TestRules(t *testing.T) {
	got := rulesOf("a_SOURCES = b.c \\\n  c.c\na_CPPFLAGS = -DX $(AM_CPPFLAGS)\nother = 1\n")
	assert.Equal(t, map[string]rule{"a": {sources: []string{"b.c", "c.c"}, flags: []string{"-DX"}}}, got)
}

func TestLedger(t *testing.T) {
	folder := t.TempDir()
	book := ledger{library: openMPI, version: "4.1.4", mode: "private", suite: "4.0.2"}
	path := filepath.Join(folder, "conformance-openmpi-4.1.4-private.tsv")
	none, err := book.resultsIn(folder)
	require.NoError(t, err)
	assert.Empty(t, none, "there is no file yet")

	first := result{test: test{program: "p", dir: "d", ranks: 2, args: []string{"-a", "b"}, env: []string{"X=1"}}, flat: pass, ours: fail, flatSeconds: 1.5, oursSeconds: 2, note: "odd\tline"}
	require.NoError(t, book.add(folder, first))
	second := first
	second.ours, second.note = pass, ""
	require.NoError(t, book.add(folder, second))
	got, err := readLedger(path)
	require.NoError(t, err)
	book.results = map[string]result{"d/p 2 -a b env=X=1": second}
	assert.Equal(t, book, got, "the later line counts")

	book.suite = "5.0.1"
	_, err = book.resultsIn(folder)
	assert.EqualError(t, err, path+" has the tests of MPICH 4.0.2, and these are those of 5.0.1: move it away, or name the other suite")

	for name, c := range map[string]struct{ text, wrong string }{
		"short line": {book.head() + "a\tb\n", ":6: 2 columns, not 9"},
		"no head":    {"a\tb\n", " does not begin as a ledger: with the library, the tests and the columns"},
		"library":    {strings.Replace(book.head(), "Open MPI", "MVAPICH", 1), " is about MVAPICH, which is no library of -mpi"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o666))
			_, err := readLedger(path)
			assert.EqualError(t, err, path+c.wrong)
		})
	}
}

// TestNotes: what differs from machine to machine is not in a ledger.
func TestNotes(t *testing.T) {
	for note, want := range map[string]string{
		"Assertion failed in file /tmp/build-x/src/a.c":                                                  "Assertion failed in file a.c",
		"[vm:07549] *** An error occurred in MPI_Put":                                                    "*** An error occurred in MPI_Put",
		"[vm:7549:0:7549] Caught signal 11":                                                              "Caught signal 11",
		"tpsl: rank 0 (process 76, thread 7): SIGSEGV at address 0x1 in libmpi.so.40+0x6 (PMPI_Put+0x1)": "tpsl: rank 0: SIGSEGV in libmpi.so.40+0x6 (PMPI_Put+0x1)",
	} {
		line := result{note: note}.String()
		assert.Equal(t, want, line[strings.LastIndex(line, "\t")+1:])
	}
}

// TestChosen: a library or mode that is none, and a mode that the library does not have, are told in one line.
func TestChosen(t *testing.T) {
	for words, want := range map[string]string{
		"mpich private":   "",
		"mpich shared":    "",
		"openmpi private": "",
		"openmpi shared":  "-mpi openmpi -mode shared: threads cannot be ranks over Open MPI's own ABI; say -mode private",
		"lam private":     "-mpi lam: neither mpich nor openmpi",
		"mpich flat":      "-mode flat: neither private nor shared",
	} {
		mpi, name, _ := strings.Cut(words, " ")
		l, m, err := chosen(mpi, name)
		if want == "" {
			require.NoError(t, err)
			assert.Equal(t, words, l.name+" "+m.name)
		} else {
			assert.EqualError(t, err, want)
		}
	}
}

// TestVersions: a library is asked for its version. Another one than was meant is refused.
func TestVersions(t *testing.T) {
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			testsupport.Require(t, l.compiler)
			version, err := l.version()
			require.NoError(t, err)
			assert.Regexp(t, `^\d+\.\d+\.\d+\w*$`, version)
			other := l
			other.says, other.title = regexp.MustCompile("MPI of another ([0-9])"), "another"
			_, err = other.version()
			assert.ErrorContains(t, err, l.compiler+" builds with another library than another: "+l.title)
		})
	}
}

func TestVersionOfSuite(t *testing.T) {
	checkout := t.TempDir()
	suite, path := filepath.Join(checkout, "test/mpi"), filepath.Join(checkout, "maint/version.m4")
	require.NoError(t, os.MkdirAll(suite, 0o777))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	_, err := versionOfSuite(suite)
	assert.EqualError(t, err, path+" is not there, which tells the version of the tests: name the folder test/mpi of a checkout of MPICH")
	require.NoError(t, os.WriteFile(path, []byte("m4_define([MPICH_VERSION_m4],[4.0.2])dnl\n"), 0o666))
	version, err := versionOfSuite(suite)
	require.NoError(t, err)
	assert.Equal(t, "4.0.2", version)
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	_, err = versionOfSuite(suite)
	assert.EqualError(t, err, path+" does not tell MPICH's version")
}

// TestRelevant: tests that differ in MPICH's variables only are one test with Open MPI.
func TestRelevant(t *testing.T) {
	tests := []test{
		{program: "p", env: []string{"MPIR_CVAR_X=1", "OTHER=1"}}, {program: "p", env: []string{"MPIR_CVAR_X=2", "OTHER=1"}}, {program: "q"},
	}
	assert.Equal(t, tests, mpich.relevant(tests))
	assert.Equal(t, []test{{program: "p", env: []string{"OTHER=1"}}, {program: "q"}}, openMPI.relevant(tests))
	assert.Equal(t, []string{"MPIR_CVAR_X=1", "OTHER=1"}, tests[0].env)

	left := mpich.relevant([]test{{dir: "ft"}, {dir: "ft", program: "p", left: "why"}})
	assert.Equal(t, []string{mpich.leftOut["ft"], "why"}, []string{left[0].left, left[1].left})
}

// TestReport: a difference from flat, or between flat runs, without an explanation is an error, and a test that a ledger lacks.
func TestReport(t *testing.T) {
	folder := t.TempDir()
	document := filepath.Join(folder, "document")
	first := ledger{library: mpich, version: "4.0.2", mode: "private", suite: "4.0.2"}
	second := first
	second.mode = "shared"
	add := func(l ledger, r result) { require.NoError(t, l.add(folder, r)) }

	good := result{test: test{program: "p", dir: "d", ranks: 2}, flat: pass, ours: pass}
	add(second, result{test: test{program: "s", dir: "d", ranks: 2}, flat: pass, ours: pass})
	add(first, good)
	assert.ErrorContains(t, writeReport(document, folder), "shared.tsv lacks 1 tests that another ledger of MPICH 4.0.2 has")
	add(second, good)
	add(first, result{test: test{program: "s", dir: "d", ranks: 2}, flat: pass, ours: pass})
	require.NoError(t, writeReport(document, folder))

	other := result{test: test{program: "q", dir: "d", ranks: 2}, flat: pass, ours: pass}
	add(first, other)
	other.ours, other.note = fail, "odd"
	add(second, other)
	third := result{test: test{program: "r", dir: "d", ranks: 2}, flat: pass, ours: pass}
	add(first, third)
	third.flat, third.ours, third.note = hang, hang, "late"
	add(second, third)
	assert.ErrorContains(t, writeReport(document, folder), "2 differences")
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	assert.Contains(t, string(text), "| d | 4 | 0 | 4 | 4 | 0 | 0 | 3 | 2 | 1 | 0 |")
	assert.Contains(t, string(text), "| MPICH 4.0.2 | MPICH 4.0.2 | [shared](results/conformance-mpich-4.0.2-shared.tsv) | 4 | 0 | 3 | 2 | 1 | 0 |")
	assert.Contains(t, string(text), "| shared | `d/q 2` | pass, 0.0 s | fail, 0.0 s | NOT EXPLAINED: odd |")
	assert.Contains(t, string(text), "| `d/r 2` | shared | no end | late |")
	assert.Contains(t, string(text), "| `d/r 2` | private: pass, 0.0 s | shared: no end, 0.0 s | NOT EXPLAINED |")

	// Another version of a library, and another library, have what they have by themselves.
	first.version = "5.0.2"
	add(first, good)
	first.library, first.version = openMPI, "4.1.4"
	add(first, result{test: good.test, flat: notBuilt, ours: notBuilt, note: "why"})
	assert.ErrorContains(t, writeReport(document, folder), "2 differences")
	text, err = os.ReadFile(document)
	require.NoError(t, err)
	assert.Equal(t, []string{"MPICH 4.0.2", "MPICH 5.0.2", "Open MPI 4.1.4"}, sections(string(text)))
	assert.Contains(t, string(text), "### Open MPI 4.1.4: not built\n\n- why: `d/p 2`\n")
}

// sections are the headings of the second level.
func sections(document string) (titles []string) {
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(document, -1) {
		titles = append(titles, m[1])
	}
	return titles
}

// TestDocument: the document is what the ledgers say, on a machine that has no MPI library and not the suite either.
func TestDocument(t *testing.T) {
	docs := filepath.Join(testsupport.Root(t), "docs")
	t.Setenv("PATH", t.TempDir())
	document := filepath.Join(t.TempDir(), "document")
	require.NoError(t, writeReport(document, filepath.Join(docs, "results")))
	want, err := os.ReadFile(document)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(docs, "conformance.md"))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run go run ./tests/conformance -report docs/conformance.md")
}

// TestRewrite: what a rank may write to becomes its own, here and where another module uses it.
func TestRewrite(t *testing.T) {
	const text = `@errs = internal global i32 3, align 4
@exported = dso_local global [2 x i8*] [i8* @.str, i8* null], align 16
@main.seen = internal unnamed_addr global i1 false, align 4
@verbose = external global i32, align 4
@stdout = external global %struct._IO_FILE*, align 8
@.str = private unnamed_addr constant [7 x i8] c"a@errs\00", align 1
@llvm.used = appending global [1 x i8*] [i8* bitcast (i32* @errs to i8*)], section "llvm.metadata"
define dso_local i32 @main() #0 {
  call void @main_loop()
  %1 = load i32, i32* @errs, align 4
`
	m := newModule(text)
	assert.Equal(t, map[string]bool{"exported": true}, m.exported)
	got, err := m.perRank(map[string]bool{"verbose": true})
	require.NoError(t, err)
	assert.Equal(t, `@errs = internal thread_local global i32 3, align 4
@exported = dso_local thread_local global [2 x i8*] [i8* @.str, i8* null], align 16
@main.seen = internal thread_local unnamed_addr global i1 false, align 4
@verbose = external thread_local global i32, align 4
@stdout = external global %struct._IO_FILE*, align 8
@.str = private unnamed_addr constant [7 x i8] c"a@errs\00", align 1
@llvm.used = appending global [1 x i8*] [i8* bitcast (i32* @errs to i8*)], section "llvm.metadata"
define dso_local i32 @tpsl_test_main() #0 {
  call void @main_loop()
  %1 = load i32, i32* @errs, align 4
`, got)

	const address = "@x = global i32 0\n@p = global i32* @x\n"
	_, err = newModule(address).perRank(nil)
	assert.EqualError(t, err, "p begins as an address in x, which each rank has elsewhere")
}

// TestRanks: variables, libc's memory and arguments are a rank's own; threads that a rank makes
// see its variables.
func TestRanks(t *testing.T) {
	testsupport.Require(t, "clang")
	root := testsupport.Build(t)
	testsupport.NothingLeft(t)
	t.Chdir(root)
	folder := t.TempDir()
	s := &sharedTools{}
	units := s.common()
	units = append(units, unit{source: "tests/conformance/testdata/own.c", flags: []string{"-I" + filepath.Join(root, "include")}})
	var objects []string
	for i := range units {
		units[i].object = filepath.Join(folder, filepath.Base(units[i].source)+".o")
		objects = append(objects, units[i].object)
	}
	require.NoError(t, s.translate(units, true))
	program := filepath.Join(folder, "own")
	require.NoError(t, s.link(program, objects))
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, "bin/mpiexec", "-n", "4", "-rpp", "4", program, "-a", "x,y")
	assert.Equal(t, "4 ranks, 0 wrong\n", stdout)
	assert.Empty(t, stderr)
	assert.Equal(t, 3, code, "the greatest of what the mains return")
}
