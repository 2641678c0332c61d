// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A report is what go test -json says in the end of a fixture: how each test ended, and what it printed. The package goes by "".
type report struct{ ends, output map[string]string }

// goTest runs the tests of a folder of testdata with a limit of ten seconds. Within these a test binary is to begin its first test,
// however busy the machine is.
func goTest(t *testing.T, folder string, options ...string) report {
	t.Helper()
	testsupport.Require(t, "go")
	command := filepath.Join(t.TempDir(), "limit")
	_, errOut, code := testsupport.Run(t, time.Minute, nil, "go", "build", "-o", command, ".")
	require.Zero(t, code, errOut)
	argv := append([]string{"go", "test", "-json", "-exec", command + " -limit 10s"}, options...)
	out, _, code := testsupport.Run(t, 5*time.Minute, nil, append(argv, "./testdata/"+folder)...)
	assert.Equal(t, 1, code)
	r := report{map[string]string{}, map[string]string{}}
	for line := range strings.Lines(out) {
		var event struct{ Action, Test, Output string }
		require.NoError(t, json.Unmarshal([]byte(line), &event), line)
		r.output[event.Test] += event.Output
		if event.Action == "pass" || event.Action == "fail" {
			require.Empty(t, r.ends[event.Test], "%s ends once", event.Test)
			r.ends[event.Test] = event.Action
		}
	}
	return r
}

// Whatever hangs, the package's other tests run, and the log has what it takes to find the cause.
func TestHangs(t *testing.T) {
	testsupport.NothingLeft(t)
	r := goTest(t, "hangs", "-skip=TestParallel|TestQueue")
	assert.Equal(t, map[string]string{
		"TestTurn": "pass", "TestTurn/part": "pass", "TestBefore": "pass", "TestGo": "fail", "TestGo/quick": "pass", "TestGo/waits": "fail", "TestProgram": "fail",
		"TestLong": "pass", "TestLong/part": "pass", "TestFails": "fail", "TestAfter": "pass", "": "fail",
	}, r.ends)
	assert.Contains(t, r.output["TestGo/waits"], "TestGo/waits hangs: no progress for 10s; its processes:\n")
	assert.Contains(t, r.output["TestGo/waits"], "hangs.waitForever(")
	program := r.output["TestProgram"]
	assert.Contains(t, program, "half a line\n")
	for _, seconds := range []string{"1234", "1236"} {
		assert.Regexp(t, `(?m)^process \d+: sleep `+seconds+`\n  thread \d+ sleep: state S in \S+, system call \d+ `, program)
	}
	assert.Contains(t, program, "nanosleep (")
	assert.Equal(t, 1, strings.Count(r.output["TestAfter"], "=== RUN"))
	for _, seconds := range []string{"1234", "1235", "1236"} {
		assert.Error(t, exec.Command("pgrep", "-f", "^sleep "+seconds).Run(), "sleep %s runs on", seconds)
	}
}

// A user's own choice of tests holds for those that are left, too; under the race detector, as without.
func TestHangsOfChosen(t *testing.T) {
	testsupport.Limit(t, 5*time.Minute) // the race detector's parts of Go's library may have to be made first
	t.Parallel()
	r := goTest(t, "hangs", "-race", "-skip=TestProgram|TestLong", "-run=Before|Go|Long|After")
	assert.Equal(t, map[string]string{
		"TestBefore": "pass", "TestGo": "fail", "TestGo/quick": "pass", "TestGo/waits": "fail", "TestAfter": "pass", "": "fail",
	}, r.ends)
}

// Of tests that ran beside each other each may be what hangs. What has ended, or has not had its turn, is not.
func TestHangsInParallel(t *testing.T) {
	t.Parallel()
	r := goTest(t, "hangs", "-parallel=3", "-run=Turn|Parallel|Queue|After")
	assert.Equal(t, map[string]string{
		"TestTurn": "pass", "TestTurn/part": "pass", "TestAfter": "pass", "": "fail",
		"TestParallel": "fail", "TestParallel/ends": "pass", "TestParallel/waits": "fail", "TestParallel/works": "fail",
		"TestQueue": "fail", "TestQueue/1": "fail", "TestQueue/2": "fail", "TestQueue/3": "fail", "TestQueue/4": "fail",
	}, r.ends)
	hang := regexp.MustCompile(`(TestParallel/w\w+) or (TestParallel/w\w+) hangs: no progress for 10s; (?s:the log of (\S+) has|its processes:\n.*hangs\.waitForever\()`)
	for _, name := range []string{"waits", "works"} {
		assert.Regexp(t, hang, r.output["TestParallel/"+name])
	}
	var waited []string
	for _, name := range []string{"1", "2", "3", "4"} {
		if strings.Contains(r.output["TestQueue/"+name], "it waited for its turn: ") {
			waited = append(waited, name)
		}
	}
	require.Len(t, waited, 1)
	assert.NotContains(t, r.output["TestQueue/"+waited[0]], "no progress")
}

// What hangs before the first test fails the package.
func TestHangsOutside(t *testing.T) {
	t.Parallel()
	r := goTest(t, "outside")
	assert.Equal(t, map[string]string{"": "fail"}, r.ends)
	assert.Contains(t, r.output[""], "the test binary, outside of its tests, hangs: no progress for 10s; its processes:\n")
	assert.Contains(t, r.output[""], "outside.TestMain(")
}

func TestWithout(t *testing.T) {
	argv := []string{"x.test", "-test.v=true", "-test.skip=A/b"}
	assert.Equal(t, argv, without(nil, argv))
	assert.Equal(t, []string{"x.test", "-test.v=true", "-test.skip=A/b|^(C|D)$"}, without([]string{"C", "D"}, argv))
	assert.Equal(t, []string{"x.test", "-test.skip=^(C)$", "-test.v=true"}, without([]string{"C"}, argv[:2]))
}

// A binary that does not say which test runs is refused.
func TestNotJSON(t *testing.T) {
	_, err := run(&bytes.Buffer{}, time.Minute, []string{"/bin/true", "-test.v=true"})
	assert.ErrorContains(t, err, "say go test -json")
}

// The output is passed on as it comes; what tests do is read in it, however it comes.
// A test is said to have taken the time since it began.
func TestProgress(t *testing.T) { synctest.Test(t, testProgress) }

func testProgress(t *testing.T) {
	const text = "\x16=== RUN   TestA\n\x16=== RUN   TestA/x\n\x16=== PAUSE TestA/x\nwords=== RUN   TestNot\n\x16=== CONT  TestA/x\n" +
		"\x16=== ATTR  TestA/x limit 5m0s\n\x16=== ATTR  TestA/x other 9m0s\n\x16=== RUN   TestA/y\n"
	var out bytes.Buffer
	p := newProgress(&out, time.Minute)
	for _, b := range []byte(text) {
		_, _ = p.Write([]byte{b})
	}
	assert.Equal(t, text, out.String())
	assert.Equal(t, []string{"TestA"}, p.begun)
	assert.Len(t, p.running, 3)
	assert.Equal(t, 5*time.Minute, p.allowed())
	_, _ = p.Write([]byte("half a line\x16    --- PASS: TestA/x (0.00s)\nhalf"))
	assert.Equal(t, time.Minute, p.allowed())
	out.Reset()
	time.Sleep(61230 * time.Millisecond)
	p.hangs("stacks\n")
	p.fail()
	assert.Equal(t, "\n\x16=== NAME  TestA/y\nTestA/y hangs: no progress for 1m0s; its processes:\nstacks\n"+
		"\x16--- FAIL: TestA/y (61.23s)\n\x16--- FAIL: TestA (61.23s)\n", out.String())
}

// What hangs has made no progress for as many ticks as it may take, whatever time has passed.
func TestTicks(t *testing.T) {
	p := newProgress(&bytes.Buffer{}, time.Minute)
	for _, line := range []string{"=== RUN   TestA", "=== ATTR  TestA limit 5m0s", "--- PASS: TestA (0.00s)", "=== RUN   TestB"} {
		_, _ = p.Write([]byte(marker + line + "\n"))
		assert.False(t, p.tick(59*time.Second), line)
	}
	assert.True(t, p.tick(time.Second))
	_, _ = p.Write([]byte(marker + "=== ATTR  TestB limit 5m0s\n"))
	assert.False(t, p.tick(239*time.Second))
	assert.True(t, p.tick(time.Second))
}

// A test that waits for its turn neither hangs nor allows the others time. One that has begun only to wait is to run again.
func TestProgressOfParallel(t *testing.T) { synctest.Test(t, testProgressOfParallel) }

func testProgressOfParallel(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, time.Minute)
	for _, line := range []string{
		"=== RUN   TestA", "=== ATTR  TestA limit 9m0s", "=== PAUSE TestA", "=== RUN   TestAB", "=== RUN   TestAB/x", "=== PAUSE TestAB/x",
	} {
		_, _ = p.Write([]byte(marker + line + "\n"))
	}
	assert.Equal(t, []string{"TestAB"}, p.active(), "its subtest waits")
	assert.Equal(t, time.Minute, p.allowed())
	for _, line := range []string{"=== CONT  TestAB/x", "=== RUN   TestAB/y", "=== PAUSE TestAB/y", "=== RUN   TestAB/z"} {
		_, _ = p.Write([]byte(marker + line + "\n"))
	}
	assert.Equal(t, []string{"TestAB/x", "TestAB/z"}, p.active())
	p.hangs("stacks\n")
	p.fail()
	assert.Equal(t, []string{"TestAB"}, p.begun)
	const say = "TestAB/x or TestAB/z hangs: no progress for 1m0s; "
	assert.Equal(t, "\x16=== NAME  TestAB/x\n"+say+"the log of TestAB/z has the processes\n"+
		"\x16=== NAME  TestAB/z\n"+say+"its processes:\nstacks\n"+
		"\x16--- FAIL: TestAB/z (0.00s)\n\x16=== NAME  TestAB/y\nit waited for its turn: TestAB/x or TestAB/z hangs\n\x16--- FAIL: TestAB/y (0.00s)\n"+
		"\x16--- FAIL: TestAB/x (0.00s)\n\x16--- FAIL: TestAB (0.00s)\n",
		out.String()[strings.Index(out.String(), "\x16=== NAME"):])
}
