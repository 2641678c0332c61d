// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// TestSample runs the tests of scripts/conformance.sample: what passes in private
// mode must go on to pass.
func TestSample(t *testing.T) {
	suite := os.Getenv("TPSL_TEST_MPICH")
	if suite == "" {
		t.Skip("TPSL_TEST_MPICH does not name the folder test/mpi of MPICH's source")
	}
	testsupport.Require(t, "mpicc.mpich")
	testsupport.NothingLeft(t)
	t.Chdir(testsupport.Build(t))
	tests, err := readSuite(suite, limit)
	require.NoError(t, err)
	byName := map[string]test{}
	for _, s := range tests {
		byName[s.name()] = s
	}
	text, err := os.ReadFile("scripts/conformance.sample")
	require.NoError(t, err)
	b, err := newBuilder(suite, "build/conformance")
	require.NoError(t, err)
	for _, name := range strings.Split(string(text), "\n") {
		if name == "" || name[0] == '#' {
			continue
		}
		s, known := byName[name]
		if !assert.True(t, known, "%s: not in the suite", name) || !assert.NoError(t, b.build(s), name) {
			continue
		}
		r := b.runBoth(s)
		assert.Equal(t, [2]string{pass, pass}, [2]string{r.flat, r.private}, "%s, flat and private: %s", name, r.note)
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
	first := result{test: test{program: "p", dir: "d", ranks: 2, args: []string{"-a", "b"}, env: []string{"X=1"}}, flat: pass, private: fail, flatSeconds: 1.5, privateSeconds: 2, note: "odd\tline"}
	require.NoError(t, appendLedger(path, first))
	second := first
	second.private, second.note = pass, ""
	require.NoError(t, appendLedger(path, second))
	got, err := readLedger(path)
	require.NoError(t, err)
	assert.Equal(t, map[string]result{"d/p 2 -a b env=X=1": second}, got, "the later line counts")

	require.NoError(t, os.WriteFile(path, []byte("a\tb\n"), 0o666))
	_, err = readLedger(path)
	assert.ErrorContains(t, err, "ledger:1: 2 columns")
}

// TestReport: a difference without an explanation is an error.
func TestReport(t *testing.T) {
	ledger, document := filepath.Join(t.TempDir(), "ledger"), filepath.Join(t.TempDir(), "document")
	good := result{test: test{program: "p", dir: "d", ranks: 2}, flat: pass, private: pass}
	require.NoError(t, appendLedger(ledger, good))
	require.NoError(t, writeReport(document, ledger))
	bad := result{test: test{program: "q", dir: "d", ranks: 2}, flat: pass, private: fail, note: "odd"}
	require.NoError(t, appendLedger(ledger, bad))
	assert.ErrorContains(t, writeReport(document, ledger), "1 differences")
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	assert.Contains(t, string(text), "| d | 2 | 2 | 1 | 1 | 0 | 0 |")
	assert.Contains(t, string(text), "| `d/q 2` | pass, 0.0 s | fail, 0.0 s | NOT EXPLAINED: odd |")
}
