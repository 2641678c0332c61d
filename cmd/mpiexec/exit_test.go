// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// rankScript runs a shell text that sees its rank as $PMI_RANK.
func rankScript(text string) []string { return []string{"sh", "-c", text} }

// Every row is a way to end. The codes are Hydra's where sameAsHydra is set, and that is checked against it.
func TestExit(t *testing.T) {
	testsupport.NothingLeft(t)
	probe := probe(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o755))
	for _, row := range []struct {
		name        string
		ranks       int
		program     []string
		code        int
		stderr      string // must be in stderr
		stdout      string
		sameAsHydra bool
	}{
		{"success", 4, []string{probe}, 0, "", "rank 3 of 4, sum 6\n", true},
		{"codes are or-ed", 3, rankScript("exit $((PMI_RANK+1))"), 3, "", "", true},
		{"others go on without MPI", 2, rankScript("if [ $PMI_RANK = 0 ]; then exit 3; fi; sleep 0.2; echo late; exit 4"), 7, "", "late\n", true},
		{"code after finalize", 2, []string{probe, "late", "5"}, 5, "", "", true},
		{"abort", 2, []string{probe, "abort", "37"}, 37, "", "line 19999\n", true},
		{"abort code is cut to a byte", 2, []string{probe, "abort", "300"}, 44, "", "", true},
		{"exit between init and finalize", 2, []string{probe, "exit", "3"}, 3, "rank 1 (" + probe, "", true},
		{"exit 0 between init and finalize", 2, []string{probe, "exit", "0"}, 0, "exited with status 0 without MPI_Finalize of rank 1", "", true},
		{"killed", 2, []string{probe, "signal", "9"}, 9, " was killed by SIGKILL (9, Killed), no core\n", "unfinished", true},
		{"killed without MPI", 2, rankScript("[ $PMI_RANK = 1 ] && kill -9 $$; sleep 60"), 9, "mpiexec: rank 1 (sh on ", "", true},
		{"segmentation fault", 2, []string{probe, "signal", "11"}, 11, "SIGSEGV (11, Segmentation fault), no core\n", "unfinished", true},
		{"bus error", 2, []string{probe, "signal", "7"}, 7, " was killed by SIGBUS (7, Bus error), no core\n", "", true},
		{"no such program", 3, []string{"./nosuchprogram"}, 255, "no such file or directory\n", "", true},
		{"program is a FIFO", 2, []string{fifo}, 255, "permission denied\n", "", true},
		// Hydra waits for ever.
		{"exit before init", 2, []string{probe, "early", "6"}, 6, "exited with status 6 without MPI_Init, which others wait for", "", false},
		{"exit while others are in init", 2, rankScript("[ $PMI_RANK = 0 ] && exec " + probe + " wait; sleep 0.5; exit 6"), 6, "without MPI_Init", "", false},
		{"exit 0 before init", 2, []string{probe, "early", "0"}, 255, "without MPI_Init", "", false},
		// Hydra waits until the sleep ends.
		{"grandchild holds the output", 1, rankScript("sleep 60 & echo done"), 0, "", "done\n", false},
		{"grandchild in a session of its own", 2, rankScript("setsid sleep 60 >/dev/null 2>&1 </dev/null & kill -9 $$"), 9, "", "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			args := append([]string{"-n", fmt.Sprint(row.ranks)}, row.program...)
			j, code := runJob(t, args...)
			assert.Equal(t, row.code, code, j.errOut.String())
			assert.Contains(t, j.errOut.String(), row.stderr)
			assert.Contains(t, j.out.String(), row.stdout)
			assert.NotContains(t, j.out.String(), "mpiexec", "the report goes to stderr")
			if _, err := exec.LookPath("mpiexec.hydra"); row.sameAsHydra && err == nil {
				h := byHydra(t, func(j *job) bool { return j.ProcessState.ExitCode() == code }, args...)
				assert.Equal(t, code, h.ProcessState.ExitCode(), "mpiexec.hydra")
			}
		})
	}
}

// A crash is reported in a line with who and what, and in another with what to do where that is known.
func TestBanner(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	for _, c := range []struct{ options, signal, want string }{
		{"-n 2", "6", "SIGABRT (6, Aborted), no core\nmpiexec: -gdb 1 runs it under gdb; after ulimit -c unlimited a crash leaves a core file\n"},
		{"-n 2", "9", "SIGKILL (9, Killed), no core\n"},
		{"-n 2 -errfile-pattern err.%r", "6", "SIGABRT (6, Aborted), no core\nmpiexec: what it wrote to stderr is in the file of -errfile-pattern err.%r\n"},
	} {
		t.Chdir(t.TempDir())
		args := append(strings.Fields(c.options), "sh", "-c", "[ $PMI_RANK = 0 ] && exec sleep 60; kill -"+c.signal+" $$")
		j, _ := runJob(t, args...)
		assert.Regexp(t, `^mpiexec: rank 1 \(sh on `+regexp.QuoteMeta(host)+`, PID \d+\) was killed by `+regexp.QuoteMeta(c.want)+"$", j.errOut.String())
	}
}

// Who asks for Hydra's form, by an option or a variable, gets the words that scripts search for, in Hydra's order, and what Hydra
// does not say.
func TestHydraBanner(t *testing.T) {
	crash := []string{"-n", "2", "sh", "-c", "[ $PMI_RANK = 1 ] && kill -6 $$; sleep 60"}
	j, _ := runJob(t, append([]string{"-banner", "hydra"}, crash...)...)
	isHydras(t, j.errOut.String())
	for _, variable := range []string{"TPSL_BANNER=hydra", "HYDRA_DEBUG=1"} {
		name, value, _ := strings.Cut(variable, "=")
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			j, _ := runJob(t, crash...)
			isHydras(t, j.errOut.String())
			j, _ = runJob(t, append([]string{"-banner", "line"}, crash...)...)
			assert.NotContains(t, j.errOut.String(), "BAD TERMINATION", "the option wins")
		})
	}
}

func isHydras(t *testing.T, report string) {
	t.Helper()
	at := 0
	for _, text := range []string{
		"\n" + strings.Repeat("=", 83) + "\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID ", " RUNNING AT ",
		"=   EXIT CODE: 6\n", "=   RANK: 1\n", "=   PROGRAM: sh\n", "=   SIGNAL: SIGABRT (6)",
		"=   CLEANING UP REMAINING PROCESSES\n=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n",
		"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Aborted (signal 6)\n",
	} {
		next := strings.Index(report[at:], text)
		if !assert.GreaterOrEqual(t, next, 0, "%q in order in\n%s", text, report) {
			return
		}
		at += next
	}
}

// A core dump shows in the code as in the wait status, and in the report.
func TestCore(t *testing.T) {
	j, code := runJob(t, "-wdir", t.TempDir(), "sh", "-c", "ulimit -S -c unlimited; kill -SEGV $$")
	switch code {
	case 11:
		assert.Contains(t, j.errOut.String(), "SIGSEGV (11, Segmentation fault), no core\n") // the system does not write one
	case 128 + 11:
		assert.Contains(t, j.errOut.String(), "SIGSEGV (11, Segmentation fault), core dumped")
	default:
		t.Errorf("exit code %d", code)
	}
}

// At the time limit ranks get SIGTERM and two seconds. Hydra kills them.
func TestTimeoutGrace(t *testing.T) {
	script := "case $PMI_RANK in 0) trap 'sleep 0.3; echo saved; exit 3' TERM;; 1) trap '' TERM;; esac; echo ready; while :; do sleep 0.1; done"
	var j *job
	for _, timeout := range []string{"0.5", "4", "15"} {
		var code int
		j, code = runJob(t, "-timeout", timeout, "-print-all-exitcodes", "-n", "3", "sh", "-c", script)
		assert.Equal(t, 255, code)
		if out := j.out.String(); strings.Count(out, "ready\n") == 3 && strings.Contains(out, "saved\n") {
			break // they have had their traps and two seconds
		}
	}
	assert.Contains(t, j.out.String(), "saved\n")
	for _, line := range []string{"rank 0 on %s: exit code 3", "rank 1 on %s: ended with the job", "rank 2 on %s: signal SIGTERM (15), no core"} {
		host, _ := os.Hostname()
		assert.Contains(t, j.errOut.String(), "mpiexec: "+fmt.Sprintf(line, host)+"\n")
	}
	assert.NotContains(t, j.errOut.String(), "killed by")
}

// At the time limit each rank is told with how far it had come, as far as the proxy knows.
func TestTimeoutSaysWhere(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	script := `ask() { echo "$1" >&$PMI_FD; read reply <&$PMI_FD; }
[ $PMI_RANK -lt 2 ] || ask "cmd=init pmi_version=1 pmi_subversion=1"
case $PMI_RANK in
3|4) echo cmd=barrier_in >&$PMI_FD;;
5|6) ask cmd=finalize;;
esac
[ $PMI_RANK = 6 ] || exec sleep 60`
	on := " on " + regexp.QuoteMeta(host) + ": "
	want := regexp.MustCompile(`^mpiexec: APPLICATION TIMED OUT, TIMEOUT = \d+s\n` +
		`mpiexec: ranks 0-1` + on + `no word over PMI: before MPI_Init, or not an MPI program \(PIDs \d+[-,]\d+\)\n` +
		`mpiexec: rank 2` + on + `had begun MPI_Init, in no PMI barrier \(PID \d+\)\n` +
		`mpiexec: ranks 3-4` + on + `waited in a PMI barrier for other ranks \(PIDs \d+[-,]\d+\)\n` +
		`mpiexec: rank 5` + on + `had finalized PMI: at the end of MPI_Finalize, or after it \(PID \d+\)\n` +
		`mpiexec: rank 6` + on + `had ended\n$`)
	var said string
	for _, timeout := range []string{"1", "5", "20"} { // until the ranks get so far in time
		j, code := runJob(t, "-timeout", timeout, "-n", "7", "bash", "-c", script)
		assert.Equal(t, 255, code)
		if said = j.errOut.String(); want.MatchString(said) {
			return
		}
	}
	assert.Regexp(t, want, said)
}

// Of ranks whose proxy does not answer nothing is claimed.
func TestTimeoutOfStoppedProxy(t *testing.T) {
	want := regexp.MustCompile(`mpiexec: ranks 0-1 on \S+: not known, as their proxy did not answer\n`)
	var said string
	for _, timeout := range []string{"3", "10", "30"} { // until the proxy stands still in time
		j := launch(t, nil, "mpiexec", "-timeout", timeout, "-n", "2", "sleep", "60")
		require.Eventually(t, func() bool {
			proxy, ranks := j.family()
			if len(ranks) == 2 {
				_ = unix.Kill(proxy, unix.SIGSTOP) // it may have ended
			}
			return len(ranks) == 2 || len(j.processes()) == 0
		}, patience, 2*time.Millisecond)
		assert.Equal(t, 255, j.end(t))
		if said = j.errOut.String(); want.MatchString(said) {
			return
		}
	}
	assert.Regexp(t, want, said)
}

func TestTimeout(t *testing.T) {
	j, code := runJob(t, "-timeout", "0.3", "-n", "2", "sleep", "60")
	assert.Equal(t, 255, code)
	assert.Contains(t, j.errOut.String(), "APPLICATION TIMED OUT, TIMEOUT = 300ms")
	t.Setenv("MPIEXEC_TIMEOUT", "1")
	j, code = runJob(t, "-n", "2", "sleep", "60")
	assert.Equal(t, 255, code)
	assert.Contains(t, j.errOut.String(), "APPLICATION TIMED OUT, TIMEOUT = 1s")
}

// A shell's processes that mpiexec finds below itself are not the job's. They go on, and what they read is not lost.
func TestStrangersGoOn(t *testing.T) {
	testsupport.Require(t, "bash")
	testsupport.NothingLeft(t)
	folder := t.TempDir()
	require.NoError(t, unix.Mkfifo(filepath.Join(folder, "gate"), 0o600))
	gate, err := os.OpenFile(filepath.Join(folder, "gate"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer gate.Close()
	const script = `cd "$1"
		mpiexec -n 2 sh -c 'sleep 60 & echo words' > >(exec >out 2>&1; read -r _ <gate; cat; echo end)
		(sleep 60 >noise 2>&1 & echo $! >helper; exec mpiexec -n 1 true)`
	_, stderr, code := testsupport.Run(t, limit, nil, "bash", "-c", script, "bash", folder)
	require.Zero(t, code, stderr)

	text, err := os.ReadFile(filepath.Join(folder, "helper"))
	require.NoError(t, err)
	helper, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	assert.NoError(t, unix.Kill(helper, unix.SIGKILL), "it has ended")

	_, err = gate.WriteString("go\n")
	require.NoError(t, err)
	out := func() string { text, _ := os.ReadFile(filepath.Join(folder, "out")); return string(text) }
	assert.Eventually(t, func() bool { return out() == "words\nwords\nend\n" }, patience, time.Millisecond)
}
