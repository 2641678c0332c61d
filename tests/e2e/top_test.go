// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
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

// topRow is a line of tpsl top -once, by the titles of its columns.
type topRow map[string]string

// topRows reads a table that tpsl top has printed, without columns of which some cells are empty.
func topRows(t *testing.T, text string) (rows []topRow) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.Greater(t, len(lines), 2, text)
	titles := strings.Fields(lines[2])
	for _, line := range lines[3:] {
		cells := strings.Fields(line)
		require.GreaterOrEqual(t, len(cells), len(titles), line)
		row := topRow{}
		for i, title := range titles {
			row[title] = cells[i]
		}
		row["STATE"] = strings.Join(cells[len(titles)-1:], " ")
		rows = append(rows, row)
	}
	return rows
}

// number reads a cell.
func (r topRow) number(t *testing.T, title string) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(r[title], 64)
	require.NoError(t, err, "%s: %v", title, r)
	return value
}

// oneMissing starts four ranks of which three wait in a barrier, for rank 2, which sleeps.
func oneMissing(t *testing.T, threads, options, program string) (job *exec.Cmd, pid string) {
	t.Helper()
	job, _ = backgroundJob(t, threads, options+" -state -n 4", program, "missing")
	return job, strconv.Itoa(job.Process.Pid)
}

const barrier = "in MPI_Barrier(MPI_COMM_WORLD)"

// missed waits until tpsl top shows that three ranks are in the barrier all the time, and rank 2 is in MPI never. It returns their rows.
// What a rank has used is not known where its process started meanwhile.
func missed(t *testing.T, argv ...string) (rows []topRow) {
	t.Helper()
	require.Eventually(t, func() bool {
		said := run(t, nil, argv...)
		if strings.Count(said.stdout, barrier) < 3 {
			return false
		}
		rows = topRows(t, said.succeeded(t).stdout)
		return strings.Join([]string{rows[0]["%MPI"], rows[1]["%MPI"], rows[2]["%MPI"], rows[3]["%MPI"]}, " ") == "100.0 100.0 0.0 100.0" && rows[2]["%CPU"] != "-"
	}, limit, time.Millisecond)
	return rows
}

// Of each rank it is told for whom it waits, how much of its time it is in MPI, and what it uses, in every mode.
func TestTop(t *testing.T) {
	for _, mode := range []struct {
		name, threads, options string
		program                func() string
		processes, together    int
	}{
		{"flat", "1", "", func() string { return flat(t, "testdata/stuck.c") }, 4, 1},
		{"private", "1", "-rpp 2 -tpsl private", func() string { return flat(t, "testdata/stuck.c") }, 4, 2},
		{"threads", "4", "-rpp 4", func() string { return fixture(t, "stuck") }, 1, 4},
		{"Open MPI", "1", "", func() string { return flatOpenMPI(t, "testdata/stuck.c") }, 4, 1},
	} {
		t.Run(mode.name, func(t *testing.T) {
			_, pid := oneMissing(t, mode.threads, mode.options, mode.program())
			pids := map[string]bool{}
			top := []string{built(t, "bin/tpsl"), "top", "-once", "-every", "500ms", pid}
			missed(t, top...)
			rows := missed(t, top...) // rank 2 has slept all the time of this one
			require.Len(t, rows, 4)
			for rank, row := range rows {
				pids[row["PID"]] = true
				assert.Equal(t, strconv.Itoa(rank), row["RANK"])
				if mode.together > 1 {
					assert.True(t, strings.HasSuffix(row["MEMORY"], fmt.Sprintf("M/%d", mode.together)), row)
				} else {
					assert.Regexp(t, `^[\d.]+M$`, row["MEMORY"])
				}
				if rank == 2 {
					assert.Equal(t, "outside of MPI", row["STATE"])
					assert.Less(t, row.number(t, "%CPU"), 5.0, "it sleeps")
					assert.Equal(t, "-", row["FOR"])
				} else {
					assert.Equal(t, barrier, row["STATE"])
					assert.Equal(t, "2", row["FOR"])
				}
			}
			assert.Len(t, pids, mode.processes)
			assert.Eventually(t, func() bool { // the processes of ranks are not known where their proxy does not answer in time
				said := run(t, nil, built(t, "bin/tpsl"), "top", "-once", "-by", "process", pid).succeeded(t)
				return len(topRows(t, said.stdout)) == 4/mode.together
			}, limit, time.Millisecond)
		})
	}
}

// Who computes has the processor time of its own thread, and who sleeps has none, though they share a process.
func TestTopCountsByThread(t *testing.T) {
	job, _ := backgroundJob(t, "2", "-state -n 2 -rpp 2", fixture(t, "halfbusy"))
	pid := strconv.Itoa(job.Process.Pid)
	require.Eventually(t, func() bool {
		said := run(t, nil, built(t, "bin/tpsl"), "top", "-once", pid)
		if said.code != 0 {
			return false // mpiexec is not so far
		}
		rows := topRows(t, said.stdout)
		if rows[0]["%CPU"] == "-" || rows[1]["%CPU"] == "-" {
			return false // the ranks are not so far
		}
		return rows[0].number(t, "%CPU") > 5 && rows[1].number(t, "%CPU") < rows[0].number(t, "%CPU")/4 && rows[1].number(t, "VCSW") >= 1
	}, limit, time.Millisecond)
}

// The ranks of several hosts are in one table.
func TestTopOnHosts(t *testing.T) {
	testsupport.NothingLeft(t)
	hosts := testsupport.Hosts(t, "a", "b")
	job := begin(t, hosts, "-hosts a,b -n 4 -genv OMP_NUM_THREADS 1 -genv UCX_NET_DEVICES eth0 -state", flat(t, "testdata/stuck.c"), "missing")
	rows := missed(t, hosts[0].Inside(built(t, "bin/tpsl"), "top", "-once")...)
	require.Len(t, rows, 4)
	for _, row := range rows {
		assert.Equal(t, map[string]string{"0": "a", "1": "b", "2": "a", "3": "b"}[row["RANK"]], row["HOST"])
	}
	said := run(t, nil, hosts[0].Inside(built(t, "bin/tpsl"), "top", "-once", "-by", "host")...).succeeded(t)
	assert.Contains(t, said.stdout, "stuck (mpiexec ")
	assert.Contains(t, said.stdout, "4 ranks on 2 hosts")
	assert.Len(t, topRows(t, said.stdout), 2)
	require.NoError(t, unix.Kill(job.await(t, 1, "mpiexec -hosts")[0], unix.SIGTERM))
	job.end(t)
}

// Tables follow one another until the job ends, which is told and is no error.
func TestTopUntilTheEnd(t *testing.T) {
	job, pid := oneMissing(t, "1", "", flat(t, "testdata/stuck.c"))
	missed(t, built(t, "bin/tpsl"), "top", "-once", pid)
	top := exec.Command(built(t, "bin/tpsl"), "top", "-every", "100ms", pid)
	stdout, err := top.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	top.Stderr = &stderr
	require.NoError(t, top.Start())
	defer time.AfterFunc(limit, func() { _ = top.Process.Kill() }).Stop()
	said, tables := "", 0
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		said += lines.Text() + "\n"
		if strings.Contains(lines.Text(), "RANK") {
			if tables++; tables == 2 {
				_ = job.Process.Signal(unix.SIGTERM)
			}
		}
	}
	assert.NoError(t, top.Wait())
	assert.Empty(t, stderr.String())
	assert.True(t, strings.HasSuffix(said, "\nthe job of mpiexec (PID "+pid+") has ended\n"), said)
	assert.Greater(t, tables, 1)
}

func TestTopRefused(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{strconv.Itoa(os.Getpid())}, fmt.Sprintf("process %d is of no job of mpiexec", os.Getpid())},
		{[]string{"999999999"}, "there is no process 999999999"},
		{[]string{"1", "1"}, "2 PIDs given; want one"},
		{[]string{"x"}, "x is no PID"},
		{[]string{"-onse"}, "unknown option -onse (did you mean -once?)"},
		{[]string{"-every", "1ms", "1"}, "-every 1ms: want 100ms to 30s"},
		{[]string{"-every", "1h", "1"}, "-every 1h0m0s: want 100ms to 30s"},
		{[]string{"-by", "node", "1"}, "-by node: want rank, process or host"},
	} {
		said := run(t, nil, append([]string{built(t, "bin/tpsl"), "top"}, c.args...)...)
		assert.Equal(t, 255, said.code, c.args)
		assert.Empty(t, said.stdout)
		assert.Equal(t, "tpsl top: "+c.want+"\n", said.stderr)
	}
}

// A job of another user is not shown, and of two jobs the user has to name one.
func TestTopOfOthers(t *testing.T) {
	_, one := oneMissing(t, "1", "", flat(t, "testdata/stuck.c"))
	_, two := oneMissing(t, "1", "", flat(t, "testdata/stuck.c"))
	for _, pid := range []string{one, two} {
		require.Eventually(t, func() bool { return where(t, pid).code == 0 }, limit, 20*time.Millisecond)
	}
	said := run(t, nil, built(t, "bin/tpsl"), "top")
	assert.Equal(t, 255, said.code)
	assert.Regexp(t, `^tpsl top: several jobs run on this host; name one of PIDs [\d,]+\n$`, said.stderr)
	assert.Contains(t, said.stderr, one)
	assert.Contains(t, said.stderr, two)

	testsupport.Require(t, "setpriv")
	said = run(t, nil, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", built(t, "bin/tpsl"), "top", one)
	assert.Equal(t, 255, said.code)
	assert.Equal(t, "tpsl top: the job of mpiexec (PID "+one+") is not yours, or it is ending\n", said.stderr)
}

// Who asks and does not read holds up neither others who ask nor the end of the job.
func TestReaderThatDoesNotRead(t *testing.T) {
	job, pid := oneMissing(t, "1", "", flat(t, "testdata/stuck.c"))
	missed(t, built(t, "bin/tpsl"), "top", "-once", pid)
	conn, err := net.Dial("unix", "@tpsl/mpiexec/"+pid)
	require.NoError(t, err)
	defer conn.Close()
	question, err := json.Marshal(map[string]string{"ask": "look"})
	require.NoError(t, err)
	require.NoError(t, conn.SetWriteDeadline(time.Now().Add(2*time.Second)))
	for err == nil {
		_, err = conn.Write(append(question, '\n'))
	}
	assert.ErrorIs(t, err, os.ErrDeadlineExceeded, "mpiexec reads no more questions, as nobody reads its answers")
	assert.Eventually(t, func() bool { // on a busy machine the proxy may not answer in time
		return strings.Contains(where(t, pid).succeeded(t).stdout, barrier)
	}, limit, 20*time.Millisecond)
	missed(t, built(t, "bin/tpsl"), "top", "-once", pid)
	require.NoError(t, job.Process.Signal(unix.SIGTERM))
	began := time.Now()
	_ = job.Wait()
	assert.Less(t, time.Since(began), soon)
}

// A terminal is a pane of tmux in which commands of a script run.
type terminal struct {
	t              *testing.T
	folder, server string
}

func newTerminal(t *testing.T, script string) terminal {
	t.Helper()
	testsupport.Require(t, "tmux")
	term := terminal{t, t.TempDir(), filepath.Join(t.TempDir(), "tmux")}
	t.Cleanup(func() { term.tmux("kill-server") })
	script = "cd " + term.folder + "\n" + script + "\nexec cat"
	term.tmux("new-session", "-d", "-x", "100", "-y", "20", "sh", "-c", script)
	return term
}

// tmux runs a command of tmux, whose server is the test's own.
func (term terminal) tmux(args ...string) string {
	term.t.Helper()
	return run(term.t, nil, append([]string{"tmux", "-S", term.server, "-f", "/dev/null"}, args...)...).stdout
}

// shows waits until the screen matches, and returns it.
func (term terminal) shows(pattern string) (screen string) {
	term.t.Helper()
	match := regexp.MustCompile(pattern)
	ok := assert.Eventually(term.t, func() bool {
		screen = term.tmux("capture-pane", "-p")
		return match.MatchString(screen)
	}, limit, 20*time.Millisecond)
	require.True(term.t, ok, "%s does not show in\n%s", pattern, screen)
	return screen
}

// restored requires that the terminal is as it was before the script has run tpsl top.
func (term terminal) restored() {
	term.t.Helper()
	before, err := os.ReadFile(filepath.Join(term.folder, "before"))
	require.NoError(term.t, err)
	after, err := os.ReadFile(filepath.Join(term.folder, "after"))
	require.NoError(term.t, err)
	assert.Equal(term.t, string(before), string(after))
	assert.Equal(term.t, "0 1\n", term.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}"), "the main screen, with a cursor")
}

// topInTerminal runs tpsl top in a terminal, whose state is noted before and after.
func topInTerminal(t *testing.T, pid string) terminal {
	return newTerminal(t, "stty -g >before\nsh -c 'echo $$ >pid; exec "+built(t, "bin/tpsl")+" top -every 200ms "+pid+"'\n"+
		"code=$?\nstty -g >after\necho \"exit code $code.\"")
}

// In a terminal one attaches, sorts, filters and leaves, and nothing stays.
func TestTopInTerminal(t *testing.T) {
	job, stderr := backgroundJob(t, "1", "-v -state -n 4", flat(t, "testdata/stuck.c"), "missing")
	pid := strconv.Itoa(job.Process.Pid)
	missed(t, built(t, "bin/tpsl"), "top", "-once", pid)
	term := topInTerminal(t, pid)
	rows := func(order ...int) string {
		pattern := "RANK.*STATE"
		for _, rank := range order {
			pattern += fmt.Sprintf(`\n +%d .*`, rank)
		}
		return pattern
	}
	term.shows(rows(0, 1, 2, 3))
	assert.Equal(t, "1 0\n", term.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}"))
	term.shows(`100\.0`)
	term.tmux("send-keys", "m")
	term.shows(rows(0, 1, 3, 2))
	term.tmux("send-keys", "m")
	term.shows(rows(2, 0, 1, 3))
	term.tmux("send-keys", "/")
	term.tmux("send-keys", "barr", "Enter")
	term.shows(`with "barr": 3 rows`)
	term.tmux("send-keys", "g", "g")
	term.shows(`with "barr": 1 row .* host by %MPI`)
	term.tmux("resize-window", "-x", "30", "-y", "5")
	term.shows(`(?s)^stuck \(mpiexec .*RANK +%MPI +STATE *\n *0-3`)
	term.tmux("send-keys", "q")
	term.shows(`exit code 0\.`)
	term.restored()
	said := func(what string) int {
		text, err := os.ReadFile(stderr)
		require.NoError(t, err)
		return strings.Count(string(text), what)
	}
	require.Eventually(t, func() bool {
		return said("begins to sample ranks") >= 2 && said("begins to sample ranks") == said("samples ranks no more")
	}, limit, 20*time.Millisecond, "the proxy samples on")
}

// However it ends, the terminal is as before.
func TestTopLeavesTerminal(t *testing.T) {
	job, pid := oneMissing(t, "1", "", flat(t, "testdata/stuck.c"))
	missed(t, built(t, "bin/tpsl"), "top", "-once", pid)
	for _, end := range []struct {
		name string
		do   func(term terminal, own int)
		said string
	}{
		{"Ctrl-C", func(term terminal, _ int) { term.tmux("send-keys", "C-c") }, ""},
		{"SIGTERM", func(_ terminal, own int) { _ = unix.Kill(own, unix.SIGTERM) }, ""},
		{"SIGHUP", func(_ terminal, own int) { _ = unix.Kill(own, unix.SIGHUP) }, ""},
		{"end of the job", func(terminal, int) { _ = job.Process.Signal(unix.SIGTERM) }, `the job of mpiexec \(PID ` + pid + `\) has ended\n`},
	} {
		t.Run(end.name, func(t *testing.T) {
			term := topInTerminal(t, pid)
			term.shows("RANK")
			text, err := os.ReadFile(filepath.Join(term.folder, "pid"))
			require.NoError(t, err)
			own, err := strconv.Atoi(strings.TrimSpace(string(text)))
			require.NoError(t, err)
			end.do(term, own)
			term.shows(end.said + `exit code 0\.`)
			term.restored()
		})
	}
}
