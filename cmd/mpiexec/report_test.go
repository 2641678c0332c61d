// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
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

// Codes and signals in words, ranks alike together. Hydra shows "0,256,512".
func TestPrintAllExitCodes(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	j, code := runJob(t, "-print-all-exitcodes", "-n", "5", "sh", "-c", "case $PMI_RANK in 2) exit 3;; 4) sleep 0.3; kill -USR2 $$;; 3) exec sleep 60;; esac")
	assert.Equal(t, int(unix.SIGUSR2), code)
	for _, line := range []string{"ranks 0-1 on %s: exit code 0", "rank 2 on %s: exit code 3", "rank 3 on %s: ended with the job", "rank 4 on %s: signal SIGUSR2 (12), no core"} {
		assert.Contains(t, j.errOut.String(), "mpiexec: "+fmt.Sprintf(line, host)+"\n")
	}
	said := ""
	for try := 0; try < 5 && said == ""; try++ { // under load, Hydra prints nothing about once in 200
		h := launch(t, nil, "mpiexec.hydra", "-print-all-exitcodes", "-n", "3", "sh", "-c", "exit $PMI_RANK")
		h.end(t)
		said = h.out.String() + h.errOut.String()
	}
	assert.Contains(t, said, "0,256,512")
}

func TestExitRules(t *testing.T) {
	script := "case $PMI_RANK in 0) sleep 0.3; exit 8;; 1) exit 2;; 2) sleep 0.6; exit 1;; esac"
	for rule, want := range map[string]int{"or": 11, "first": 2, "max": 8, "128+sig": 11} {
		_, code := runJob(t, "-exit-code", rule, "-n", "3", "sh", "-c", script)
		assert.Equal(t, want, code, rule)
	}
	for rule, want := range map[string]int{"or": 9, "first": 137, "max": 137, "128+sig": 137} {
		j, code := runJob(t, "-exit-code", rule, "-n", "2", "sh", "-c", "[ $PMI_RANK = 0 ] && exec sleep 60; kill -9 $$")
		assert.Equal(t, want, code, rule)
		assert.Contains(t, j.errOut.String(), fmt.Sprintf("=   EXIT CODE: %d\n", want))
	}
}

// The report's names and values, as docs/report.md has them.
func TestReport(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, os.WriteFile(file, make([]byte, 10000), 0o600))
	script := "case $PMI_RANK in 0) exit 3;; 1) exec sleep 60;; esac; ulimit -S -c unlimited; echo last words >&2; sleep 0.3; kill -SEGV $$"
	j, code := runJob(t, "-report", file, "-wdir", t.TempDir(), "-n", "3", "sh", "-c", script)
	text := fileText(t, file)
	var report struct {
		Schema   int
		Version  string
		Begin    time.Time
		Seconds  float64
		ExitCode int `json:"exit_code"`
		Messages []string
		Hosts    []map[string]any
		Ranks    []map[string]any
		Failures []map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(text), &report), text)
	assert.Equal(t, 1, report.Schema)
	assert.NotEmpty(t, report.Version)
	assert.WithinDuration(t, j.started, report.Begin, 5*time.Second)
	assert.Greater(t, report.Seconds, 0.3)
	assert.Equal(t, code, report.ExitCode)
	assert.Contains(t, j.errOut.String(), strings.Join(report.Messages, "\n"))
	assert.Equal(t, []map[string]any{{"host": host, "proxy": 0.0, "group": 0.0, "ranks": "0-2"}}, report.Hosts)
	require.Len(t, report.Ranks, 3)
	for rank, want := range []map[string]any{{"state": "exited", "exit_code": 3.0}, {"state": "ended"}, {"state": "signaled", "signal": "SIGSEGV"}} {
		want["rank"], want["host"], want["program"] = float64(rank), host, "sh"
		assert.Subset(t, report.Ranks[rank], want)
		assert.Greater(t, report.Ranks[rank]["pid"], 1.0)
		assert.Greater(t, report.Ranks[rank]["seconds"], 0.0)
	}
	require.Len(t, report.Failures, 1)
	assert.Subset(t, report.Failures[0], map[string]any{"ranks": "2", "host": host, "stderr": []any{"last words"}})
	assert.Contains(t, report.Failures[0]["reason"], "SIGSEGV (11)")
}

// The report tells of ends that are not the program's doing, too, and one that cannot be written is told before all.
func TestReportOfOtherEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	for want, args := range map[string][]string{
		`"APPLICATION TIMED OUT, TIMEOUT = 200ms"`: {"-timeout", "0.2", "-n", "2", "sleep", "60"},
		`"mpiexec: cannot run ./nosuch on `:        {"-n", "2", "./nosuch"},
		`"exit_code": 0,`:                          {"-n", "2", "true"},
		`without MPI_Finalize of rank 1"`:          {"-n", "2", probe(t), "exit", "3"},
		`"exit_code": 37,`:                         {"-n", "2", probe(t), "abort", "37"},
	} {
		_, code := runJob(t, append([]string{"-report", file}, args...)...)
		text := fileText(t, file)
		assert.Contains(t, strings.ReplaceAll(text, `"mpiexec: APP`, `"APP`), want)
		assert.Contains(t, text, fmt.Sprintf(`"exit_code": %d,`, code))
	}
	j, code := runJob(t, "-report", "/nonexistent/report", "-n", "1", "echo", "started")
	assert.Equal(t, 255, code)
	assert.Equal(t, "mpiexec: option -report: open /nonexistent/report: no such file or directory\n", j.errOut.String())
	assert.Empty(t, j.out.String())

	j, code = runJob(t, "-report", "/dev/full", "-n", "1", "true")
	assert.Equal(t, 255, code)
	assert.Contains(t, j.errOut.String(), "mpiexec: write report: write /dev/full: no space left on device\n")
}

// What the banner adds: which came next, and the last lines on stderr, from a file too.
func TestBannerDetails(t *testing.T) {
	// Rank 1's death reaches mpiexec while it is stopped, and so does rank 0's.
	r, w := pipe(t)
	script := "seq 100 >&2; echo ready; trap '' USR1; [ $PMI_RANK = 2 ] && exec sleep 60; sleep 0.$((4-2*PMI_RANK)); kill -$((4+2*PMI_RANK)) $$"
	j := launchTo(t, nil, w, "mpiexec", "-errfile-pattern", t.TempDir()+"/err", "-n", "3", "sh", "-c", script)
	newCollector(r).await(t, "ready\n", 3)
	require.NoError(t, j.Process.Signal(unix.SIGSTOP))
	time.Sleep(time.Second)
	require.NoError(t, j.Process.Signal(unix.SIGCONT))
	assert.Equal(t, 6, j.end(t)&127)
	assert.Regexp(t, `=   SIGNAL: SIGABRT \(6\).*\n=   THEN FAILED: rank 0 \(sh on \S+\): SIGILL \(4\).*\n`+
		`=   ITS LAST LINES ON STDERR:\n=   \| 96\n=   \| 97\n=   \| 98\n=   \| 99\n=   \| 100\n=   CLEANING`, j.errOut.String())
}

// The file of a core is named where the kernel writes one.
func TestCoreFile(t *testing.T) {
	dir := t.TempDir()
	j, code := runJob(t, "-wdir", dir, "-n", "2", "sh", "-c", "[ $PMI_RANK = 1 ] || exec sleep 60; ulimit -S -c unlimited; kill -SEGV $$")
	pattern := strings.TrimSpace(fileText(t, "/proc/sys/kernel/core_pattern"))
	if code&128 == 0 || strings.HasPrefix(pattern, "|") {
		testsupport.Unable(t, "no core files here: core_pattern is %q", pattern)
	}
	name := regexp.MustCompile(`SIGSEGV \(11\), core dumped to (\S+)\n`).FindStringSubmatch(j.errOut.String())
	require.NotNil(t, name, j.errOut.String())
	core := fileText(t, name[1])
	assert.True(t, strings.HasPrefix(core, "\x7fELF"))
}

func TestSilentAbort(t *testing.T) {
	j, code := runJob(t, "-silent-abort", "-n", "2", "sh", "-c", "kill -9 $$")
	assert.Equal(t, 9, code)
	assert.Empty(t, j.errOut.String())
}

// With -disable-auto-cleanup the others go on. They get SIGUSR1, and PMI tells who has died.
func TestKeepRunning(t *testing.T) {
	script := `trap 'usr1=1' USR1
ask() { echo "$1" >&$PMI_FD; read reply <&$PMI_FD; }
ask "cmd=init pmi_version=1 pmi_subversion=1"
ask cmd=get_my_kvsname
kvs=${reply##*kvsname=}
case $PMI_RANK in 1) sleep 0.2; kill -9 $$;; 3) sleep 0.4; exit 2;; esac
for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1 & wait $!; done 2>/dev/null
ask "cmd=get kvsname=$kvs key=PMI_dead_processes"
echo "usr1=$usr1 $reply"
ask cmd=finalize
exit 1`
	j, code := runJob(t, "-disable-auto-cleanup", "-exit-code", "max", "-print-all-exitcodes", "-l", "-n", "4", "bash", "-c", script)
	assert.Equal(t, 137, code)
	assert.ElementsMatch(t, []string{
		"[0] usr1=1 cmd=get_result rc=0 msg=success value=1,3",
		"[2] usr1=1 cmd=get_result rc=0 msg=success value=1,3",
	}, lines(j.out.String()))
	assert.Contains(t, j.errOut.String(), "=   RANK: 1\n")
	assert.Regexp(t, `=   THEN FAILED: rank 3 \(bash on \S+\): exited with status 2 without MPI_Finalize of rank 3\n`, j.errOut.String())
	assert.Regexp(t, `mpiexec: ranks 0,2 on \S+: exit code 1\n`, j.errOut.String())

	for launcher, want := range map[string]int{"mpiexec": 2, "mpiexec.hydra": 0} {
		j := launch(t, nil, launcher, "-disable-auto-cleanup", "-n", "3", "sh", "-c", "trap '' USR1; sleep 0.2; [ $PMI_RANK = 1 ] && kill -9 $$; sleep 0.8; echo alive")
		assert.Equal(t, 9, j.end(t))
		assert.Equal(t, want, strings.Count(j.out.String(), "alive\n"), launcher)
	}
}
