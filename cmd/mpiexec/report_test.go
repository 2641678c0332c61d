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
	script := afterOthers("0 1 2") + "case $PMI_RANK in 2) exit 3;; 4) after; kill -USR2 $$;; 3) exec sleep 60;; esac"
	j, code := runJob(t, "-print-all-exitcodes", "-n", "5", "sh", "-c", script, filepath.Join(t.TempDir(), "rank"))
	assert.Equal(t, int(unix.SIGUSR2), code)
	for _, line := range []string{"ranks 0-1 on %s: exit code 0", "rank 2 on %s: exit code 3", "rank 3 on %s: ended with the job", "rank 4 on %s: signal SIGUSR2 (12), no core"} {
		assert.Contains(t, j.errOut.String(), "mpiexec: "+fmt.Sprintf(line, host)+"\n")
	}
	h := byHydra(t, func(j *job) bool { return strings.Contains(j.out.String()+j.errOut.String(), "0,256,512") }, "-print-all-exitcodes", "-n", "3", "sh", "-c", "exit $PMI_RANK")
	assert.Contains(t, h.out.String()+h.errOut.String(), "0,256,512")
}

// afterOthers begins a script whose $0 names files: "after" waits until the proxy has collected the ranks named.
func afterOthers(ranks string) string {
	return `echo $$ >$0.$PMI_RANK.new; mv $0.$PMI_RANK.new $0.$PMI_RANK
after() {
	for rank in ` + ranks + `; do
		until read pid <$0.$rank; do sleep 0.01; done 2>/dev/null
		while [ -d /proc/$pid ]; do sleep 0.01; done
	done
}
`
}

func TestExitRules(t *testing.T) {
	// What was collected is still to be told, so the next one waits a little.
	script := afterOthers("1") + "case $PMI_RANK in 0) after; sleep 0.5; exit 8;; 1) exit 2;; 2) after; sleep 0.5; exit 1;; esac"
	for rule, want := range map[string]int{"or": 11, "first": 2, "max": 8, "128+sig": 11} {
		_, code := runJob(t, "-exit-code", rule, "-n", "3", "sh", "-c", script, filepath.Join(t.TempDir(), "rank"))
		assert.Equal(t, want, code, rule)
	}
	for rule, want := range map[string]int{"or": 9, "first": 137, "max": 137, "128+sig": 137} {
		j, code := runJob(t, "-exit-code", rule, "-banner", "hydra", "-n", "2", "sh", "-c", "[ $PMI_RANK = 0 ] && exec sleep 60; kill -9 $$")
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
	script := afterOthers("0") + "case $PMI_RANK in 0) exit 3;; 1) exec sleep 60;; esac; ulimit -S -c unlimited; echo last words >&2; after; sleep 0.3; kill -SEGV $$"
	j, code := runJob(t, "-report", file, "-wdir", t.TempDir(), "-n", "3", "sh", "-c", script, filepath.Join(t.TempDir(), "rank"))
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
	assert.WithinDuration(t, j.started, report.Begin, patience)
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
	file := filepath.Join(t.TempDir(), "rank")
	script := afterOthers("1") + `seq 100 >&2; echo ready
until [ -e $0.go ]; do sleep 0.01; done
case $PMI_RANK in 0) after; sleep 0.5; kill -4 $$;; 1) kill -6 $$;; esac
exec sleep 60`
	j := launchTo(t, nil, w, "mpiexec", "-banner", "hydra", "-errfile-pattern", t.TempDir()+"/err", "-n", "3", "sh", "-c", script, file)
	newCollector(r).await(t, "ready\n", 3)
	stop(t, j.Process.Pid)
	require.NoError(t, os.WriteFile(file+".go", nil, 0o600))
	zero := "/proc/" + strings.TrimSpace(fileText(t, file+".0"))
	require.Eventually(t, func() bool { _, err := os.Stat(zero); return err != nil }, patience, time.Millisecond)
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
	name := regexp.MustCompile(`SIGSEGV \(11, Segmentation fault\), core dumped to (\S+)\n`).FindStringSubmatch(j.errOut.String())
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
ask cmd=barrier_in
dead() { until ask "cmd=get kvsname=$kvs key=PMI_dead_processes"; [[ $reply = *"value=$1" ]]; do sleep 0.1; done; }
case $PMI_RANK in 1) kill -9 $$;; 3) dead 1; exit 2;; esac
dead 1,3
echo "usr1=$usr1 $reply"
ask cmd=finalize
exit 1`
	j, code := runJob(t, "-disable-auto-cleanup", "-exit-code", "max", "-print-all-exitcodes", "-l", "-n", "4", "bash", "-c", script)
	assert.Equal(t, 137, code)
	assert.ElementsMatch(t, []string{
		"[0] usr1=1 cmd=get_result rc=0 msg=success value=1,3",
		"[2] usr1=1 cmd=get_result rc=0 msg=success value=1,3",
	}, lines(j.out.String()))
	assert.Contains(t, j.errOut.String(), "mpiexec: rank 1 (")
	assert.Regexp(t, `mpiexec: also failed: rank 3 on \S+: bash: exited with status 2 without MPI_Finalize\n`, j.errOut.String())
	assert.Regexp(t, `mpiexec: ranks 0,2 on \S+: exit code 1\n`, j.errOut.String())

	// Who has no handler for the signal does not get it: it would be the end of those that are to go on.
	script = `echo "cmd=init pmi_version=1 pmi_subversion=1" >&$PMI_FD; read reply <&$PMI_FD
` + afterOthers("1") + `if [ $PMI_RANK = 1 ]; then until [ -e $0.0 ] && [ -e $0.2 ]; do sleep 0.01; done; kill -9 $$; fi
after; sleep $1; echo alive; echo cmd=finalize >&$PMI_FD; read reply <&$PMI_FD`
	for launcher, run := range map[string]struct {
		wait  string // Hydra has the time that it takes to kill them
		alive int
		codes []int
	}{"mpiexec": {"0.8", 2, []int{9}}, "mpiexec.hydra": {"30", 0, []int{9, 9 | 10}}} { // its SIGUSR1 may end the others first
		j := launch(t, nil, launcher, "-disable-auto-cleanup", "-n", "3", "bash", "-c", script, filepath.Join(t.TempDir(), "rank"), run.wait)
		assert.Contains(t, run.codes, j.end(t), launcher)
		assert.Equal(t, run.alive, strings.Count(j.out.String(), "alive\n"), launcher)
	}
}
