// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
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
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// debianPython is not position-independent.
const debianPython = "/usr/bin/python3"

// python returns Debian's interpreter, if it and some of its modules are there.
func python(t *testing.T, modules ...string) string {
	t.Helper()
	if _, err := os.Stat(debianPython); err != nil {
		testsupport.Unable(t, "%v", err)
	}
	for _, module := range modules {
		if _, _, code := testsupport.Run(t, time.Minute, nil, debianPython, "-c", "import "+module); code != 0 {
			testsupport.Unable(t, "python3-%s is not installed", module)
		}
	}
	return debianPython
}

// testScript returns the absolute path of a script of testdata.
func testScript(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("testdata/" + name)
	require.NoError(t, err)
	return path
}

// executableFile writes a file that can be run.
func executableFile(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

// debianFirst is an environment in which python3 is Debian's.
func debianFirst() []string { return []string{"PATH=/usr/bin:" + os.Getenv("PATH")} }

// Modules of Python open dozens of libraries that need one another: scipy, pandas, h5py and matplotlib
// compute in private ranks what they compute in flat ones.
func TestPrivateScience(t *testing.T) {
	testsupport.NothingLeft(t)
	program := python(t, "scipy", "pandas", "h5py", "matplotlib")
	env := []string{"OMP_NUM_THREADS=2", "OPENBLAS_NUM_THREADS=2", "MPLCONFIGDIR=" + t.TempDir()}
	run(t, env, program, "-c", "import matplotlib.font_manager").succeeded(t) // finds the fonts; only the first job would say that this takes long
	lines := flatAndPrivate(t, env, "", program, testScript(t, "science.py"), t.TempDir())
	assert.Contains(t, strings.Join(lines, ""), "h5py 1 9900.0 1 ['numbers']\n")
}

// However an interpreter is named, private ranks of it are what flat ranks are: their file, prefix, paths and arguments, and what they
// start.
func TestPrivatePython(t *testing.T) {
	testsupport.NothingLeft(t)
	program, who := python(t, "venv"), testScript(t, "who.py")
	folder := t.TempDir()
	environment := filepath.Join(folder, "venv")
	_, stderr, code := testsupport.Run(t, limit, nil, program, "-m", "venv", "--without-pip", environment)
	require.Zero(t, code, stderr)
	text, err := os.ReadFile(who)
	require.NoError(t, err)
	_, body, _ := strings.Cut(string(text), "\n")
	named := func(name, line string) string { return executableFile(t, filepath.Join(folder, name), line+"\n"+body) }
	shims := filepath.Join(folder, "shims")
	require.NoError(t, os.Mkdir(shims, 0o700))
	executableFile(t, filepath.Join(shims, "python3"), "#!/bin/sh\necho from the shim >&2\nexec "+environment+"/bin/python3 \"$@\"\n")
	link := filepath.Join(folder, "interpreter")
	require.NoError(t, os.Symlink(program, link))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "who_module.py"), text, 0o600))
	modules := append(debianFirst(), "PYTHONPATH="+folder)
	for name, c := range map[string]struct {
		env     []string
		command []string
	}{
		"path":              {nil, []string{program, who, "a", "-b"}},
		"name":              {debianFirst(), []string{"python3", who}},
		"version":           {debianFirst(), []string{"python3.11", "-E", "-u", who}},
		"link":              {nil, []string{link, who}},
		"venv":              {nil, []string{environment + "/bin/python", who}},
		"active venv":       {[]string{"PATH=" + environment + "/bin:" + os.Getenv("PATH")}, []string{"python3", who}},
		"script":            {nil, []string{who, "a", "-b"}},
		"script, option":    {nil, []string{named("option", "#!  "+program+"  -I "), "a"}},
		"script of a venv":  {nil, []string{named("of-venv", "#!"+environment+"/bin/python3")}},
		"env":               {debianFirst(), []string{named("env", "#!/usr/bin/env python3"), "a"}},
		"env, options":      {debianFirst(), []string{named("env-options", "#!/usr/bin/env -S python3 -s -W 'error::Warning'"), "a"}},
		"script of scripts": {nil, []string{named("of-script", "#!"+named("first", "#!"+program)), "a"}},
		"command":           {debianFirst(), []string{"python3", "-c", body, "a"}},
		"module":            {modules, []string{"python3", "-m", "who_module", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := flatAndPrivate(t, append(c.env, "TPSL_PRELUDE=1"), "", c.command...)
			assert.Contains(t, lines, "own ['TPSL_PRELUDE']\n", "the variable of lib/tpsl/python is gone")
		})
	}
	t.Run("shim", func(t *testing.T) {
		env := []string{"PATH=" + shims + ":" + os.Getenv("PATH")}
		want := mpiexec(t, env, "-n 2", "python3", who)
		got := mpiexec(t, env, "-n 2 -rpp 2", "python3", who).succeeded(t)
		assert.Contains(t, want.stderr, "from the shim\n")
		assert.Equal(t, want.lines(), got.lines())
		got = mpiexec(t, env, "-n 2 -rpp 2", named("env-shim", "#!/usr/bin/env python3")).succeeded(t)
		assert.Contains(t, got.lines(), "executable "+environment+"/bin/python3\n")
	})
	t.Run("stdin", func(t *testing.T) {
		for _, options := range []string{"-n 2", "-n 2 -rpp 2"} {
			said := func(more string) string {
				return run(t, nil, "sh", "-c", `echo "import sys; print(sys.argv, sys.stdin.isatty())" | "$0" `+options+" "+program+more, built(t, "bin/mpiexec")).stdout
			}
			assert.Equal(t, "[''] False\n", said(""), "rank 0 has the standard input")
			assert.Equal(t, "[''] False\n", said(" -i -q"))
		}
	})
}

// Private ranks of Python end as flat ones do.
func TestPrivatePythonEnds(t *testing.T) {
	testsupport.NothingLeft(t)
	program := python(t)
	for name, code := range map[string]string{
		"end":       "import atexit; atexit.register(print, 'handler')",
		"exit":      "import sys, atexit; atexit.register(print, 'handler'); sys.exit(3)",
		"exit text": "import sys; sys.exit('why')",
		"exception": "raise ValueError('why')",
		"_exit":     "import os; print('unwritten', end=''); os._exit(4)",
		"syntax":    "def",
		"thread":    "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()",
		"fork":      "import os; pid = os.fork(); os._exit(5) if pid == 0 else print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
		"pool":      "import multiprocessing as m; print(m.get_context('fork').Pool(2).map(abs, [-1, 2]))",
	} {
		t.Run(name, func(t *testing.T) {
			// Two ranks that end badly end the job, so one may be late.
			flatLines := mpiexec(t, nil, "-n 1", program, "-c", code)
			private := mpiexec(t, nil, "-n 2 -rpp 2", program, "-c", code+"\n")
			assert.Equal(t, flatLines.code, private.code, private.stderr)
			for line := range strings.Lines(flatLines.stdout) {
				assert.Contains(t, private.stdout, line)
			}
			assert.Equal(t, flatLines.stdout == "", private.stdout == "")
		})
	}
	t.Run("killed", func(t *testing.T) {
		began := time.Now()
		o := mpiexec(t, nil, "-n 2 -rpp 2", program, "-c", "import os; os.environ['PMI_RANK'] == '1' and os.kill(os.getpid(), 9)")
		assert.Regexp(t, `^mpiexec: rank 1 \(\S+ on \S+, PID \d+\) was killed by SIGKILL`, withoutHostEndsSet(began, o.stderr))
	})
}

// What a rank forks cannot load an extension module, and says so; what it executes can.
func TestPrivatePythonChildren(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", python(t), testScript(t, "children.py")).succeeded(t)
	const refused = "fork: a child that a rank of private mode makes by fork cannot load libraries; load them before, or execute a program in the child\n"
	assert.Equal(t, []string{"fork, loaded before: 4\n", "fork, loaded before: 4\n", refused, refused, "forkserver: 4\n", "forkserver: 4\n", "spawn: 4\n", "spawn: 4\n"}, job.lines())
}

// An interrupt of the launcher is one of each rank.
func TestPrivatePythonInterrupt(t *testing.T) {
	testsupport.NothingLeft(t)
	const code = `import time
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
`
	for _, options := range [][]string{{"-n", "2"}, {"-n", "2", "-rpp", "2"}} {
		job := start(t, nil, slices.Concat([]string{built(t, "bin/mpiexec")}, options, []string{python(t), "-c", code})...)
		said := func(want string) {
			line, err := job.out.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, want, line)
		}
		said("ready\n") // of the second rank
		require.NoError(t, job.Process.Signal(unix.SIGINT))
		said("interrupted\n")
		said("interrupted\n")
		assert.NoError(t, job.Wait())
	}
}

// Private ranks of Debian's interpreter run its library, which is slower: docs/python.md says by how much.
func TestPrivatePythonCost(t *testing.T) {
	testsupport.NothingLeft(t)
	program, loop := python(t), testScript(t, "loop.py")
	took := func(options string) float64 {
		seconds, err := strconv.ParseFloat(strings.TrimSpace(mpiexec(t, nil, options, program, loop).succeeded(t).stdout), 64)
		require.NoError(t, err)
		return seconds
	}
	const turns = 10
	var ratios []float64
	for range turns {
		flat := took("-n 1")
		ratios = append(ratios, took("-n 1 -rpp 2")/flat)
	}
	slices.Sort(ratios)
	median := (ratios[turns/2-1] + ratios[turns/2]) / 2
	t.Logf("%.2f (%.2f-%.2f)", median, ratios[0], ratios[turns-1])
	assert.Less(t, median, 1.5)
}

// What cannot be run is refused in one line, before a rank runs.
func TestPrivatePythonRefused(t *testing.T) {
	testsupport.NothingLeft(t)
	program := python(t)
	// pretends makes an interpreter that says of itself what is not so.
	pretends := func(setting string) []string {
		folder := t.TempDir()
		executableFile(t, filepath.Join(folder, "python3"), "#!/bin/sh\nexec "+program+" -c \"import sys; "+setting+"\n$4\"\n")
		return []string{"PATH=" + folder + ":" + os.Getenv("PATH")}
	}
	shim := func(text string) []string {
		folder := t.TempDir()
		executableFile(t, filepath.Join(folder, "python3"), "#!/bin/sh\n"+text+"\n")
		return []string{"PATH=" + folder + ":" + os.Getenv("PATH")}
	}
	libpython := regexp.MustCompile(`libpython\d+\.\d+`).FindString(run(t, nil, program, "-c", "import sys; print('libpython%d.%d' % sys.version_info[:2])").succeeded(t).stdout)
	for name, c := range map[string]struct {
		env  []string
		line string
	}{
		"no libpython": {pretends("sys.abiflags = 'odd'"),
			`/usr/bin/python3 is not position-independent, so its ranks run ` + libpython + `odd.so.1.0 of the same version [0-9.]+, which is not installed; install Debian's package ` + libpython + `odd, or use .*`},
		"other version": {pretends("sys.version = '3.99.1 made up'"),
			`/usr/bin/python3 is not position-independent, so its ranks run ` + libpython + `.so.1.0 of the same version 3.99.1, and \S+/` + libpython + `.so.1.0 is of another; install both .* packages python3\S+ and ` + libpython},
		"says nothing": {shim("exit 0"), `ask \S+/python3 what Python it is: it gave no answer`},
		"fails":        {shim("echo first >&2; echo no such version >&2; exit 1"), `ask \S+/python3 what Python it is: no such version`},
		"not a Python": {shim(`printf '\0tpsl\0/bin/sh\0003.1\000none\000/'`), `-rpp 2 needs an ELF program or one of Python, which this is not; use .*`},
	} {
		t.Run(name, func(t *testing.T) {
			o := mpiexec(t, c.env, "-n 2 -rpp 2", "python3", "-c", "print('runs')")
			assert.Equal(t, 255, o.code)
			assert.Empty(t, o.stdout)
			assert.Regexp(t, `^mpiexec: cannot run python3 on \S+: `+c.line+`\n$`, o.stderr)
		})
	}
	// No other script is run to ask it something.
	asked := filepath.Join(t.TempDir(), "asked")
	other := executableFile(t, filepath.Join(t.TempDir(), "script"), "#!/bin/sh\necho >"+asked+"\n")
	o := mpiexec(t, nil, "-n 2 -rpp 2", other)
	assert.Contains(t, o.stderr, "needs an ELF program or one of Python")
	assert.NoFileExists(t, asked)
}

// Debian's mpi4py is built for Open MPI, which is served by PMIx. Private ranks do what flat ones do, with what notes and counts calls in
// front of them as well.
func TestPrivateMPI4PY(t *testing.T) {
	testsupport.NothingLeft(t)
	program, sums := python(t, "mpi4py", "numpy"), testScript(t, "allreduce.py")
	lines := flatAndPrivate(t, nil, "-pmi x", program, sums)
	assert.Contains(t, lines, "1 of 2: 3000.0 [0, 1]\n")
	for _, options := range []string{"-state -n 4", "-state -n 4 -rpp 4", "-n 4", "-n 4 -rpp 4"} {
		t.Run(options, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "of")
			o := mpiexec(t, nil, "-pmi x -profile="+file+" "+options, program, sums)
			require.Zero(t, o.code, o.stderr)
			assert.Contains(t, o.lines(), "3 of 4: 10000.0 [0, 1, 2, 3]\n")
			for _, rank := range readProfile(t, file+".json").Ranks {
				assert.Equal(t, int64(1), callsOf(rank, "MPI_Allreduce").Count)
			}
		})
	}
}

// Ranks of Python that open an MPI library which mpiexec does not serve would be jobs of one each, and end in one line. Python that
// opens none, or one that speaks PMI, is no such rank.
func TestPythonOfSilentSingletons(t *testing.T) {
	testsupport.NothingLeft(t)
	program, sums := python(t, "mpi4py", "numpy"), testScript(t, "allreduce.py")
	for _, options := range []string{"-n 2", "-n 2 -rpp 2"} {
		o := mpiexec(t, nil, options, program, sums)
		assert.Equal(t, 255, o.code)
		assert.Regexp(t, `(?m)^mpiexec: \S+/python3 on \S+: its MPI library does not speak the PMI of mpiexec, so each rank began a job of its own; give -pmi x if that is Open MPI, .*$`, o.stderr)
		assert.Empty(t, mpiexec(t, nil, options, program, "-c", "pass").succeeded(t).stdout)
		o = mpiexec(t, []string{"LD_PRELOAD="}, options, program, "-c", "import os; print(os.environ.get('LD_PRELOAD'), 'TPSL_CONTROL_FD' in os.environ)")
		assert.NotContains(t, o.succeeded(t).stdout, "witness")
	}
	module := testsupport.CC(t, "mpicc.mpich", "testdata/extension.c", "-O2", "-DLIBRARY", "-shared", "-fPIC")
	const opens = "import ctypes, sys; library = ctypes.PyDLL(sys.argv[1]); print(library.begin() + library.end())"
	lines := flatAndPrivate(t, nil, "", program, "-u", "-c", opens, module)
	assert.Contains(t, strings.Join(lines, ""), "rank 1 of 2: 1\n")
}

// What stands in front of an MPI library finds it behind a library that a program opens for itself alone.
func TestFrontsOfExtensions(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "gcc", "testdata/extension.c", "-O2")
	for compiler, pmi := range map[string]string{"mpicc.mpich": "", "mpicc.openmpi": "-pmi x "} {
		testsupport.Require(t, compiler)
		module := testsupport.CC(t, compiler, "testdata/extension.c", "-O2", "-DLIBRARY", "-shared", "-fPIC")
		for _, sharing := range []string{"", " -rpp 4 -tpsl private"} {
			for _, front := range []string{"", "-state", "-profile"} {
				t.Run(compiler+sharing+front, func(t *testing.T) {
					file, options := filepath.Join(t.TempDir(), "of"), front
					if front == "-profile" {
						options += "=" + file
					}
					o := mpiexec(t, []string{"TPSL_YIELD=always"}, pmi+options+" -n 4"+sharing, program, module)
					require.Zero(t, o.code, o.stderr)
					assert.Equal(t, []string{"rank 0 of 4: 6\n", "rank 1 of 4: 6\n", "rank 2 of 4: 6\n", "rank 3 of 4: 6\n"}, o.lines())
					if front != "-profile" {
						return
					}
					for _, rank := range readProfile(t, file+".json").Ranks {
						assert.Equal(t, int64(1), callsOf(rank, "MPI_Allreduce").Count)
						assert.Equal(t, int64(1), callsOf(rank, "MPI_Finalize").Count)
					}
				})
			}
		}
	}
}

// mpi4pyForMPICH is the source tree that TPSL_TEST_MPI4PY names, and the folder of the modules that were built for MPICH in it
// (python3 setup.py build --mpicc=mpicc.mpich).
func mpi4pyForMPICH(t *testing.T) (tree, modules string) {
	t.Helper()
	tree = os.Getenv("TPSL_TEST_MPI4PY")
	if tree == "" {
		t.Skip("TPSL_TEST_MPI4PY names no source tree of mpi4py")
	}
	found, err := filepath.Glob(filepath.Join(tree, "build", "lib*"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return tree, found[0]
}

// mpi4py's own tests end in private ranks as in flat ones.
func TestMPI4PYSuite(t *testing.T) {
	tree, modules := mpi4pyForMPICH(t)
	testsupport.NothingLeft(t)
	const most = 15 * time.Minute
	program, built := python(t, "numpy"), built(t, "bin/mpiexec")
	suite := func(t *testing.T, options ...string) string {
		t.Helper()
		o := runFor(t, most, []string{"PYTHONPATH=" + modules}, slices.Concat([]string{built}, options, []string{program, filepath.Join(tree, "test", "runtests.py")})...)
		require.Zero(t, o.code, o.stdout+o.stderr)
		ran := regexp.MustCompile(`(?m)^Ran \d+ tests|^OK.*$`).FindAllString(o.stderr, -1)
		require.NotEmpty(t, ran)
		slices.Sort(ran)
		return strings.Join(slices.Compact(ran), ", ")
	}
	two := suite(t, "-n", "2", "-rpp", "2")
	t.Log("2 ranks:", two)
	assert.Equal(t, suite(t, "-n", "2"), two)
	t.Log("4 ranks:", suite(t, "-n", "4", "-rpp", "4"))
}
