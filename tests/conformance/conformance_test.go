// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// halves is shared mode with two processes.
var halves = mode{name: "halves", options: func(t test) []string { return []string{"-rpp", strconv.Itoa((t.ranks + 1) / 2)} }}

// TestSample runs the tests of scripts/conformance.sample: what passes in a mode must go on
// to pass.
func TestSample(t *testing.T) {
	suite := os.Getenv("TPSL_TEST_MPICH")
	if suite == "" {
		t.Skip("TPSL_TEST_MPICH does not name the folder test/mpi of MPICH's source")
	}
	testsupport.Require(t, "mpicc.mpich", "clang")
	t.Chdir(testsupport.Build(t))
	tests, err := readSuite(suite, limit)
	require.NoError(t, err)
	byName := map[string]test{}
	for _, s := range tests {
		byName[s.name()] = s
	}
	text, err := os.ReadFile("scripts/conformance.sample")
	require.NoError(t, err)
	for _, m := range []mode{private, shared, halves} {
		t.Run(m.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			c, err := newComparison(m, suite)
			require.NoError(t, err)
			for _, name := range strings.Split(string(text), "\n") {
				if name == "" || name[0] == '#' {
					continue
				}
				t.Run(name, func(t *testing.T) {
					s, known := byName[name]
					require.True(t, known, "not in the suite")
					require.NoError(t, c.ours.build(s))
					r := c.run(s)
					assert.Equal(t, [2]string{pass, pass}, [2]string{r.flat, r.ours}, "flat and %s: %s", m.name, r.note)
				})
			}
		})
	}
}

const limit = 30 * time.Second

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
	path := filepath.Join(t.TempDir(), "ledger")
	first := result{test: test{program: "p", dir: "d", ranks: 2, args: []string{"-a", "b"}, env: []string{"X=1"}}, flat: pass, ours: fail, flatSeconds: 1.5, oursSeconds: 2, note: "odd\tline"}
	require.NoError(t, appendLedger(path, private.name, first))
	second := first
	second.ours, second.note = pass, ""
	require.NoError(t, appendLedger(path, private.name, second))
	got, err := readLedger(path)
	require.NoError(t, err)
	assert.Equal(t, map[string]result{"d/p 2 -a b env=X=1": second}, got, "the later line counts")

	require.NoError(t, os.WriteFile(path, []byte("a\tb\n"), 0o666))
	_, err = readLedger(path)
	assert.ErrorContains(t, err, "ledger:1: 2 columns")
}

// TestReport: a difference without an explanation is an error, and a test that a ledger lacks.
func TestReport(t *testing.T) {
	folder := t.TempDir()
	document := filepath.Join(folder, "document")
	first := mode{name: "private", ledger: filepath.Join(folder, "first")}
	second := mode{name: "shared", ledger: filepath.Join(folder, "second")}
	add := func(m mode, r result) { require.NoError(t, appendLedger(m.ledger, m.name, r)) }

	good := result{test: test{program: "p", dir: "d", ranks: 2}, flat: pass, ours: pass}
	add(first, good)
	assert.ErrorContains(t, writeReport(document, first, second), "second lacks 1 tests")
	add(second, good)
	require.NoError(t, writeReport(document, first, second))

	other := result{test: test{program: "q", dir: "d", ranks: 2}, flat: pass, ours: pass}
	add(first, other)
	other.ours, other.note = fail, "odd"
	add(second, other)
	third := result{test: test{program: "r", dir: "d", ranks: 2}, flat: pass, ours: pass}
	add(first, third)
	third.flat, third.ours, third.note = hang, hang, "late"
	add(second, third)
	assert.ErrorContains(t, writeReport(document, first, second), "1 differences")
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	assert.Contains(t, string(text), "| d | 3 | 0 | 3 | 3 | 0 | 0 | 1 | 1 | 0 |")
	assert.Contains(t, string(text), "| shared | `d/q 2` | pass, 0.0 s | fail, 0.0 s | NOT EXPLAINED: odd |")
	assert.Contains(t, string(text), "| `d/r 2` | shared | no end | late |")
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
