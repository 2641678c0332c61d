// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
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
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const flaky = "./tests/soak/testdata/flaky"

// script returns the command, in which tests/soak/testdata/flaky counts its runs, and the entry that all of its processes have.
func script(t *testing.T) (command, counter, entry string) {
	t.Helper()
	testsupport.Require(t, "go", "git", "timeout", "setsid")
	counter = filepath.Join(t.TempDir(), "runs")
	return filepath.Join(testsupport.Root(t), "scripts", "soak"), counter, "TPSL_TEST_FLAKY=" + counter
}

// The file adds up over calls, and the table has what failed, how often, and what it said first.
func TestSoak(t *testing.T) {
	testsupport.NothingLeft(t)
	command, _, entry := script(t)
	record := filepath.Join(t.TempDir(), "record")
	soak := func(want int, args ...string) string {
		out, errOut, code := testsupport.Run(t, 100*time.Second, []string{entry}, append([]string{command, "-out", record}, args...)...)
		require.Equal(t, want, code, "%s\n%s", out, errOut)
		require.Empty(t, testsupport.Marked(entry), "loops are left")
		return out
	}
	assert.Equal(t, "No runs yet.\n", soak(0, "-table"))
	assert.Regexp(t, `\Arun 1 of 2, .*: 3 tests of 1 packages in \d+s, 0 failed\nrun 2 of 2, .*, 0 failed\n`, soak(0, "2", flaky))
	out := soak(1, "5", flaky)
	assert.Contains(t, out, "run 1 of 5, ")
	kept := regexp.MustCompile(`\nall that go test said: (build/soak-\S+\.events)\n`).FindAllStringSubmatch(out, -1)
	require.Len(t, kept, 2, out)
	for _, k := range kept {
		path := filepath.Join(testsupport.Root(t), k[1])
		events, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(events), "this is run ")
		require.NoError(t, os.Remove(path))
	}
	table := soak(0, "-table")
	day := `\d{4}-\d\d-\d\d`
	assert.Regexp(t, `\A7 runs, `+day+` to `+day+`, each CPU with a niced busy loop beside the tests\.\n`, table)
	assert.Contains(t, table, "| all packages together | 0 | 0 | 0 |\n| tests/soak/testdata/flaky | 7 | 2 | 1 |\n")
	assert.Regexp(t, `\n\| 2 \| 7 \| `+day+` \d\d:\d\d \| tests/soak/testdata/flaky TestFlaky/third \|\n`, table)
	assert.Regexp(t, `\ntests/soak/testdata/flaky TestFlaky/third, first failed .*:\n\n    === RUN .*\n        flaky_test.go:\d+: this is run 3\n`, table)
	assert.NotContains(t, table, "this is run 6", "the first log is enough")
}

// A package may run in several parts: a failure of any of them stays, in whatever order their events stand.
func TestParts(t *testing.T) {
	part := func(second int, how string) string {
		text := ""
		for i, action := range []string{"start", "output", how} {
			text += fmt.Sprintf(`{"Time":"2026-01-02T03:04:%02dZ","Action":%q,"Package":"p","Output":"it crashed\n"}`+"\n", second+i, action)
		}
		return text
	}
	for _, events := range []string{part(20, "fail") + part(10, "pass"), part(20, "pass") + part(10, "fail")} {
		r, err := readEvents(strings.NewReader(events))
		require.NoError(t, err)
		assert.Equal(t, "p", r.Failures[0].name())
		assert.Equal(t, 12*time.Second, r.Took)
	}
	r, err := readEvents(strings.NewReader(part(10, "pass") + part(20, "pass")))
	require.NoError(t, err)
	assert.Empty(t, r.Failures)
}

// The tests run beside a loop for each CPU; all end with the script, however it ends, and a run that did not come to its end does not count.
func TestInterrupted(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT} {
		command, counter, entry := script(t)
		record := filepath.Join(t.TempDir(), "record")
		cmd := exec.Command(command, "-out", record, "3", flaky)
		tmp := t.TempDir()
		cmd.Env = append(os.Environ(), entry, "TPSL_TEST_HANGS=1", "TMPDIR="+tmp)
		cmd.WaitDelay = 20 * time.Second
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		require.Eventually(t, func() bool { runs, _ := os.ReadFile(counter); return len(runs) == 1 }, time.Minute, 10*time.Millisecond)
		loops := 0
		for _, pid := range testsupport.Marked(entry) {
			if strings.HasPrefix(testsupport.CommandLine(pid), "sh -c while :") {
				nice, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
				require.NoError(t, err)
				assert.Equal(t, 1, nice, "20 less the niceness, as the kernel has it")
				loops++
			}
		}
		assert.Positive(t, loops)
		require.NoError(t, cmd.Process.Signal(sig))
		_ = cmd.Wait()
		assert.Equal(t, 128+int(sig), cmd.ProcessState.ExitCode())
		assert.Eventually(t, func() bool { return len(testsupport.Marked(entry)) == 0 }, 20*time.Second, 10*time.Millisecond)
		assert.NoFileExists(t, record)
		left, err := filepath.Glob(tmp + "/soak.*")
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

func TestRefused(t *testing.T) {
	testsupport.NothingLeft(t)
	command := filepath.Join(testsupport.Root(t), "scripts", "soak")
	for args, want := range map[string]string{
		"":                              "soak: how many times? Say scripts/soak N [PACKAGE...]; -h tells more\n",
		"0":                             "soak: how many times? Say scripts/soak N [PACKAGE...]; -h tells more\n",
		"-x":                            "soak: unknown option -x; try scripts/soak -h\n",
		"1 ./nosuchpackage":             "no package was tested",
		"-out /nowhere/x 1 " + flaky:    "soak: open /nowhere/x: no such file or directory\n",
		"-table -out tests/soak/run.go": "soak: run 1 of tests/soak/run.go: ",
	} {
		_, errOut, code := testsupport.Run(t, 100*time.Second, nil, append([]string{command}, strings.Fields(args)...)...)
		assert.Equal(t, 1, code, args)
		assert.Contains(t, errOut, want, args)
	}
	help, _, code := testsupport.Run(t, time.Minute, nil, command, "-h")
	assert.Zero(t, code)
	assert.Contains(t, help, "scripts/soak [-out FILE] N [PACKAGE...]: ")
	assert.Contains(t, help, "scripts/soak [-out FILE] -table: ")
}

// A test that has no end, as when its binary is killed, has failed; so has a package that does not build.
func TestEvents(t *testing.T) {
	const begin = `{"Time":"2026-01-02T03:04:05Z","Action":"start","Package":"github.com/tpsl/tpsl/a"}
{"Action":"run","Package":"github.com/tpsl/tpsl/a","Test":"TestX"}
{"Action":"output","Package":"github.com/tpsl/tpsl/a","Test":"TestX","Output":"last words\n"}
{"Action":"build-output","ImportPath":"b [b.test]","Output":"b.go:1: no\n"}
`
	const end = `{"Action":"fail","Package":"github.com/tpsl/tpsl/b","FailedBuild":"b [b.test]"}
{"Time":"2026-01-02T03:04:15Z","Action":"fail","Package":"github.com/tpsl/tpsl/a"}
`
	r, err := readEvents(strings.NewReader(begin + end))
	require.NoError(t, err)
	assert.Equal(t, []failure{{"a", "TestX", "last words\n"}, {"b", "", "b.go:1: no\n"}}, r.Failures)
	assert.Equal(t, map[string]result{"a": {Tests: 1}, "b": {}}, r.Packages)
	assert.Equal(t, 10*time.Second, r.Took)
	_, err = readEvents(strings.NewReader(begin + `{"Action":"output","Package":"github.com/tpsl/tpsl/a","Output":"ok  \tgithub.com/tpsl/tpsl/a\t(cached)\n"}`))
	assert.ErrorContains(t, err, "the tests of a did not run")
	_, err = readEvents(strings.NewReader(begin))
	assert.EqualError(t, err, "the tests of a did not come to their end; the run does not count")
}

// The log of a failure in a record names files by their paths in the repository, and the home directory as ~.
func TestPortableLog(t *testing.T) {
	tree, home := t.TempDir(), t.TempDir()
	t.Chdir(tree)
	t.Setenv("HOME", home)
	assert.Equal(t, "a/b.go:1: in ~/go/pkg\n", portable(tree+"/a/b.go:1: in "+home+"/go/pkg\n"))
}

func TestLongLog(t *testing.T) {
	log := short(strings.Repeat("a", 50_000) + "end")
	assert.Less(t, len(log), 31_000)
	assert.True(t, strings.HasSuffix(log, "aend"))
	assert.Contains(t, log, "[... 20003 bytes ...]")
}

// The last runs without a failure are counted from now back.
func TestTable(t *testing.T) {
	bad := []failure{{Package: "a", Test: "TestX", Log: "log"}}
	runs := []run{
		{Whole: true, Packages: map[string]result{"a": {}, "b": {}}},
		{Whole: true, Packages: map[string]result{"a": {}, "b": {}}, Failures: bad},
		{Packages: map[string]result{"a": {}}, Failures: bad},
		{Whole: true, Packages: map[string]result{"a": {}, "b": {}}},
		{Packages: map[string]result{"a": {}}},
	}
	var out bytes.Buffer
	require.NoError(t, printTable(&out, runs))
	assert.Contains(t, out.String(), "| all packages together | 3 | 1 | 1 |\n| a | 5 | 2 | 2 |\n| b | 3 | 0 | 3 |\n")
	assert.Contains(t, out.String(), "| 2 | 5 | ")
}

// The kept table is that of the kept record.
func TestKeptRecord(t *testing.T) {
	kept := filepath.Join(testsupport.Root(t), "docs", "results", "soak")
	runs, err := readRuns(kept + ".jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, runs)
	var table strings.Builder
	require.NoError(t, printTable(&table, runs))
	page, err := os.ReadFile(kept + ".md")
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(page), "\n\n"+table.String()), "soak.md is not of soak.jsonl: make it anew by scripts/soak -out docs/results/soak.jsonl -table")
}
