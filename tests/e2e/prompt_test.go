// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
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

// piped runs tpsl python with Debian's interpreter and a text as its standard input.
func piped(t *testing.T, options, text string) outcome {
	t.Helper()
	file := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return run(t, nil, "sh", "-c", "exec "+built(t, "bin/tpsl")+" python "+options+" "+python(t)+" <"+file)
}

// rankNumber makes r the rank.
const rankNumber = "import os, signal, sys, time; r = int(os.environ.get('PMI_RANK') or os.environ['PMIX_RANK'])\n"

// promptInTerminal runs tpsl python in a terminal of a user without settings, whose state is noted before and after. Entries of env are NAME=value.
func promptInTerminal(t *testing.T, options string, env ...string) terminal {
	term := newTerminal(t, "export "+strings.Join(append(env, "HOME=$PWD"), " ")+"\ntrap : INT\nunset PYTHONSTARTUP INPUTRC\nstty -g >before\nsh -c 'echo $$ >pid; exec "+
		built(t, "bin/tpsl")+" python "+options+" "+python(t)+"'\n"+"code=$?\nstty -g >after\necho \"exit code $code.\"")
	term.shows(`Python 3\S+ on 3 ranks. Ctrl-C interrupts, Ctrl-D ends.\n>>> *\n`)
	return term
}

// ready matches a screen that ends with a prompt.
const ready = `\n(>>>|\.\.\.) *\n*$`

// types types lines, each at a prompt. Where the prompt is after an empty line the screen does not tell.
func (term terminal) types(lines ...string) {
	term.t.Helper()
	for _, line := range lines {
		term.shows(ready)
		term.tmux("send-keys", "-l", line)
		term.shows(`\n(>>>|\.\.\.) ?` + regexp.QuoteMeta(line) + ` *\n*$`)
		term.tmux("send-keys", "Enter")
	}
}

// allSay waits until each of ranks 0 to 2 has said a line. Those whose lines come late do not share one with the others.
func (term terminal) allSay(line string) {
	term.t.Helper()
	labels := regexp.MustCompile(`(?m)^\[([0-2,-]+)\] ` + regexp.QuoteMeta(line) + `$`)
	ranks := strings.NewReplacer("0-2", "0,1,2", "0-1", "0,1", "1-2", "1,2")
	var screen string
	ok := assert.Eventually(term.t, func() bool {
		said := ""
		screen = term.tmux("capture-pane", "-p")
		for _, label := range labels.FindAllStringSubmatch(screen, -1) {
			said += ranks.Replace(label[1])
		}
		return strings.Contains(said, "0") && strings.Contains(said, "1") && strings.Contains(said, "2")
	}, limit, 20*time.Millisecond)
	require.True(term.t, ok, "not all ranks say %s in\n%s", line, screen)
}

// What is piped in runs on all ranks, statement by statement. Ranks that say the same share a line, and the exit code is Python's.
func TestPromptOfAPipe(t *testing.T) {
	testsupport.NothingLeft(t)
	const trace = "Traceback (most recent call last):\n"
	for name, c := range map[string]struct {
		text, stdout, stderr string
		code                 int
	}{
		"nothing":        {"", "", "", 0},
		"values":         {"6 * 7\nr\nNone\n_ + 1\n", "[0-2] 42\n[0] 0\n[1] 1\n[2] 2\n[0] 1\n[1] 2\n[2] 3\n", "", 0},
		"some alike":     {"r % 2\n", "[0,2] 0\n[1] 1\n", "", 0},
		"blocks":         {"def f(x):\n    return x + 1\nfor i in range(2):\n    print(i)\nelse:\n    print('end')\nf(1)", "[0-2] 0\n[0-2] 1\n[0-2] end\n[0-2] 2\n", "", 0},
		"one line":       {"a = 1; a; b = 2; b\n", "[0-2] 1\n[0-2] 2\n", "", 0},
		"decorated":      {"def twice(f):\n    return lambda: 2 * f()\n\n@twice\ndef f():\n    return 4\nf()\n", "[0-2] 8\n", "", 0},
		"several lines":  {"print('''a\n\nb''')\n", "[0-2] a\n[0-2] \n[0-2] b\n", "", 0},
		"no line's end":  {"print('a', end='')\nprint('b')\n", "[0-2] a\n[0-2] b\n", "", 0},
		"stderr":         {"print('a', file=sys.stderr)\n", "", "[0-2] a\n", 0},
		"other stdout":   {"import io; sys.stdout = io.StringIO()\nprint('a')\nsys.__stdout__.write('b\\n') and None\n", "[0-2] b\n", "", 0},
		"descriptors":    {"os.dup2(os.open(os.devnull, os.O_WRONLY), 1)\nprint('a')\n2\nprint('b', file=sys.stderr)\n", "", "[0-2] b\n", 0},
		"own module":     {"import __main__, pickle\ndef f(): return 5\npickle.loads(pickle.dumps(f))()\nsys.argv, sys.path[0], __name__\n", "[0-2] 5\n[0-2] ([''], '', '__main__')\n", "", 0},
		"no input":       {"sys.stdin.read()\n", "[0-2] ''\n", "", 0},
		"exception":      {"1\n\n1 / 0\n2\n", "[0-2] 1\n", "[0-2] " + trace + "[0-2]   File \"<stdin>\", line 4, in <module>\n[0-2] ZeroDivisionError: division by zero\n", 1},
		"own exceptions": {"raise ValueError(r % 2)\n", "", "[0,2] " + trace + "[0,2]   File \"<stdin>\", line 2, in <module>\n[0,2] ValueError: 0\n" + "[1] " + trace + "[1]   File \"<stdin>\", line 2, in <module>\n[1] ValueError: 1\n", 1},
		"one of three":   {"def f():\n    if r == 1:\n        raise ValueError('why')\n    print('said')\n    time.sleep(3600)\nf()\n", "[0,2] said\n", "[1] " + trace + "[1]   File \"<stdin>\", line 7, in <module>\n[1]   File \"<stdin>\", line 4, in f\n[1] ValueError: why\n", 1},
		"syntax":         {"1\ndef\n", "", "  File \"<stdin>\", line 3\n    def\n       ^\nSyntaxError: invalid syntax\n", 1},
		"exit":           {"print('a')\nexit()\nprint('b')\n", "[0-2] a\n", "", 0},
		"exit code":      {"import atexit\natexit.register(print, 'handler') and None\nsys.exit(3)\n", "[0-2] handler\n", "", 3},
		"exit of one":    {"if r == 1:\n    sys.exit()\nr\n", "[0] 0\n[2] 2\n", "tpsl python: rank 1 left; ranks 0,2 stayed\n", 0},
		"failure of one": {"if r == 1:\n    sys.exit('why')\nr\n", "[0] 0\n[2] 2\n", "[1] why\ntpsl python: rank 1 left; ranks 0,2 stayed\n", 1},
		"_exit of one":   {"if r != 1:\n    os._exit(0)\nr\n", "[1] 1\n", "tpsl python: ranks 0,2 left; rank 1 stayed\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := piped(t, "-n 3", rankNumber+c.text)
			assert.Equal(t, c.stdout, o.stdout)
			assert.Equal(t, c.stderr, o.stderr)
			assert.Equal(t, c.code, o.code)
		})
	}
	o := piped(t, "-n 2", "from __future__ import annotations\n\ndef f(x: nothing): pass\nf.__annotations__\n")
	assert.Equal(t, "[0-1] {'x': 'nothing'}\n", o.succeeded(t).stdout)
}

// mpiexec passes each stream of a rank on by itself. The last words of a rank come before it is told that the rank has left.
func TestPromptLastWords(t *testing.T) {
	testsupport.NothingLeft(t)
	file := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(file, []byte("import os, sys; sys.exit('why') if os.environ['PMI_RANK'] == '1' else None\n6 * 7\n"), 0o600))
	interpreter, scripts := python(t), built(t, "share/tpsl")
	o := run(t, nil, "sh", "-c", strings.Join([]string{"exec", interpreter, scripts + "/prompt.py 2", interpreter, testScript(t, "slowstderr.py"),
		interpreter, scripts + "/prompt-rank.py <" + file}, " "))
	assert.Equal(t, "[0] 42\n", o.stdout)
	assert.Equal(t, "[1] why\ntpsl python: rank 1 left; rank 0 stayed\n", o.stderr)
	assert.Zero(t, o.code)
}

// A user types definitions, wrong lines and right ones, takes a line from the history, interrupts what runs and what is typed, and leaves.
func TestPromptInTerminal(t *testing.T) {
	testsupport.NothingLeft(t)
	term := promptInTerminal(t, "-n 3", fmt.Sprintf("TPSL_TEST_PATIENCE=%.0f", limit.Seconds())) // who says the same shares a line, however late it is
	term.types(strings.TrimSpace(rankNumber), "r % 2", "3 +")
	term.shows(`>>> r % 2\n\[0,2\] 0\n\[1\] 1\n>>> 3 \+\n .*\n .*\n .*\nSyntaxError: .*\n>>> *\n`)
	term.types("def f(x):", "    return 1 / x", "")
	term.shows(`\.\.\. *\n>>> *\n*$`)
	term.types("f(r)")
	term.shows(`>>> f\(r\)\n\[1\] 1.0\n\[2\] 0.5\n\[0\] Traceback .*\n(\[0\]   File .*\n)+\[0\] ZeroDivisionError: division by zero\n>>> *\n`)
	term.types("for i in range(2):", "    print(i); open(f'{r}.{i}', 'w').close(); time.sleep(3600 * i)", "")
	for _, file := range []string{"0.1", "1.1", "2.1"} {
		require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(term.folder, file)); return err == nil }, limit, 20*time.Millisecond)
	}
	term.tmux("send-keys", "C-c")
	term.shows(`\[0-2\] 0\n\[0-2\] 1\n\[0-2\] Traceback .*\n\[0-2\]   File "<stdin>", line 2, in <module>\n\[0-2\] KeyboardInterrupt\n>>> *\n`)
	term.tmux("send-keys", "-l", "exit(")
	term.shows(`>>> exit\(`)
	term.tmux("send-keys", "C-c")
	term.shows(`>>> exit\(.*\nKeyboardInterrupt\n>>> *\n`)
	term.types("r + 10")
	term.shows(`>>> r \+ 10\n\[0\] 10\n\[1\] 11\n\[2\] 12\n>>> *\n`)
	term.tmux("send-keys", "Up", "BSpace", "5", "Enter")
	term.shows(`>>> r \+ 15\n\[0\] 15\n\[1\] 16\n\[2\] 17\n>>> *\n`)
	term.tmux("send-keys", "C-d")
	term.shows(`exit code 0\.`)
	term.restored()
	history, err := os.ReadFile(filepath.Join(term.folder, ".python_history"))
	require.NoError(t, err)
	assert.Contains(t, string(history), "\nr + 10\n")
}

// However the prompt ends, its exit code tells, and neither ranks nor a changed terminal stay.
func TestPromptEndsInTerminal(t *testing.T) {
	const busy = "while print('busy') is None: time.sleep(3600)"
	for name, c := range map[string]struct {
		lines []string
		ready string // what all ranks say, and the prompt shows while they run, before the end is made
		end   func(term terminal, pids map[string]int)
		said  string
	}{
		"exit":               {[]string{"exit(4)"}, "", nil, `exit code 4\.`},
		"killed":             {[]string{"os.kill(os.getpid(), 9) if r == 1 else r"}, "", nil, `mpiexec: rank 1 \(\S+ on \S+, PID \d+\) was killed by SIGKILL.*\n(.*\n)*exit code 9\.`},
		"killed at a prompt": {nil, "", func(_ terminal, pids map[string]int) { _ = unix.Kill(pids["1"], unix.SIGKILL) }, `>>> *\nmpiexec: rank 1 \(\S+ on \S+, PID \d+\) was killed by SIGKILL.*\n(.*\n)*exit code 9\.`},
		"SIGTERM":            {nil, "", func(_ terminal, pids map[string]int) { _ = unix.Kill(pids["own"], unix.SIGTERM) }, `>>> *\nexit code 143\.`},
		"SIGTERM, busy":      {[]string{busy, ""}, "busy", func(_ terminal, pids map[string]int) { _ = unix.Kill(pids["own"], unix.SIGTERM) }, `exit code 143\.`},
		"SIGHUP":             {[]string{busy, ""}, "busy", func(_ terminal, pids map[string]int) { _ = unix.Kill(pids["own"], unix.SIGHUP) }, `exit code 129\.`},
		"SIGKILL":            {[]string{busy, ""}, "busy", func(_ terminal, pids map[string]int) { _ = unix.Kill(pids["own"], unix.SIGKILL) }, `exit code 137\.`},
		"Ctrl-C twice": {[]string{"signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if r == 1 else None", busy, ""}, "busy", func(term terminal, _ map[string]int) {
			term.tmux("send-keys", "C-c")
			term.shows(`tpsl python: ranks? (1|0-1|1-2|0-2) cannot be interrupted now; Ctrl-C again ends the job\n`)
			term.tmux("send-keys", "C-c")
		}, `exit code 130\.`},
	} {
		t.Run(name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			term := promptInTerminal(t, "-n 3")
			term.types(strings.TrimSpace(rankNumber), "open(f'{r}', 'w').write(str(os.getpid())) and None", "'begins'")
			term.allSay("'begins'")
			term.shows(ready)
			pids := map[string]int{"own": term.number("pid"), "1": term.number("1")}
			term.types(c.lines...)
			if c.ready != "" {
				term.allSay(c.ready)
			}
			if c.end != nil {
				c.end(term, pids)
			}
			term.shows(c.said)
			if name != "SIGKILL" { // the terminal is as lines are typed; a program that is killed cannot help that
				term.restored()
			}
			require.Eventually(t, func() bool { return over(pids["1"]) }, limit, 20*time.Millisecond) // who waits for orphans is this test, at its end
		})
	}
}

// number reads a process id from a file of the terminal's folder.
func (term terminal) number(file string) int {
	term.t.Helper()
	text, err := os.ReadFile(filepath.Join(term.folder, file))
	require.NoError(term.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(term.t, err)
	return pid
}

// Lines that are longer than mpiexec keeps come whole, if not on one line.
func TestPromptLongLines(t *testing.T) {
	testsupport.NothingLeft(t)
	o := piped(t, "-n 3", rankNumber+"print(str(r) * 3000000)\nprint('alike' * 500000)\n'end'\n")
	require.Zero(t, o.code, o.stderr)
	for _, digit := range []string{"0", "1", "2"} {
		assert.InDelta(t, 3000000, strings.Count(o.stdout, digit), 20, "beside those of labels")
	}
	assert.True(t, strings.HasSuffix(o.stdout, "\n[0-2] 'end'\n"))
}

// mpi4py of Open MPI works where -pmi x is given, and ends the job in a line where it is not.
func TestPromptMPI4PY(t *testing.T) {
	testsupport.NothingLeft(t)
	python(t, "mpi4py")
	const sums = rankNumber + "from mpi4py import MPI\nMPI.COMM_WORLD.allreduce(r), MPI.COMM_WORLD.rank == r\n"
	assert.Equal(t, "[0-3] (6, True)\n", piped(t, "-n 4 -pmi x", sums).succeeded(t).stdout)
	o := piped(t, "-n 4", sums)
	assert.Equal(t, 255, o.code)
	assert.Empty(t, o.stdout)
	assert.Regexp(t, `^mpiexec: \S+ on \S+: its MPI library does not speak the PMI of mpiexec.* give -pmi x if that is Open MPI.*\n$`, o.stderr)
}

func TestPromptRefused(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, c := range []struct{ args, want string }{
		{"-n 0", "-n 0: want a number from 1; try tpsl python -h"},
		{"-n x", "-n x: not a value of this option; try tpsl python -h"},
		{"-rpp 2", "unknown option -rpp; try tpsl python -h"},
		{"-n 3 python3 prog.py", "prog.py: the ranks run what you type; for a script use mpiexec -n 3 -rpp 3; try tpsl python -h"},
		{"none/python3", `cannot run none/python3: exec: "none/python3": stat none/python3: no such file or directory`},
	} {
		o := run(t, nil, append([]string{built(t, "bin/tpsl"), "python"}, strings.Fields(c.args)...)...)
		assert.Equal(t, 255, o.code, c.args)
		assert.Empty(t, o.stdout)
		assert.Equal(t, "tpsl python: "+c.want+"\n", o.stderr)
	}
	o := piped(t, "-pmi y", "1\n")
	assert.Equal(t, 255, o.code)
	oneLine(t, o, "mpiexec", "option -pmi: ")
	o = piped(t, "-n 2000", "1\n")
	assert.Equal(t, 1, o.code)
	oneLine(t, o, "[0] tpsl", "2000 ranks need about ")
}
