// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tpsl/names"
)

// doctor runs tpsl doctor, below other commands if there are words before it.
func doctor(t *testing.T, env []string, before, arguments []string) outcome {
	t.Helper()
	return run(t, env, slices.Concat(before, []string{built(t, "bin/tpsl"), "doctor"}, arguments)...)
}

// findings returns the part of doctor's text behind its verdict, a finding per line, or "" where there is none.
func findings(t *testing.T, job outcome) string {
	t.Helper()
	verdict, rest, ok := strings.Cut(job.stdout, "\n\n")
	require.True(t, ok, job.stdout)
	require.Regexp(t, `^tpsl \S+: (ready|not ready)[:,]`, verdict)
	lines, ok := strings.CutPrefix(rest, "What would fail, and what to do\n")
	if !ok {
		return ""
	}
	lines, _, _ = strings.Cut(lines, "\n\n")
	return lines
}

// line returns the rest of the line that starts with words, in any part of the text.
func line(t *testing.T, job outcome, words string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(words) + ` +(.*)$`).FindStringSubmatch(job.stdout)
	require.NotNil(t, m, "%s in\n%s", words, job.stdout)
	return m[1]
}

// This machine can run everything, and doctor says so and what with.
func TestDoctor(t *testing.T) {
	testsupport.NothingLeft(t)
	path := "PATH=" + filepath.Join(testsupport.Build(t), "bin") + ":" + os.Getenv("PATH")
	job := doctor(t, []string{path, "UCX_TLS=sm,self"}, nil, nil).succeeded(t)
	assert.NotContains(t, findings(t, job), "error")
	assert.NotContains(t, findings(t, job), "PATH", "mpiexec and tpslcc are those of this installation")
	libmpich := line(t, job, "libmpich.so.12")
	assert.True(t, strings.HasPrefix(libmpich, mpich(t)+": MPICH "), libmpich)
	assert.Contains(t, libmpich, ", 0 names missing, 0 extra (used)")
	assert.Contains(t, job.stdout, "\n  private  libmpich.so.12 ")
	assert.Contains(t, job.stdout, "\n  once     libucm.so.0 ")
	assert.Contains(t, job.stdout, "\n  shared   libc.so.6 ")
	assert.Equal(t, filepath.Join(testsupport.Build(t), "bin/mpiexec")+" (this installation)", line(t, job, "mpiexec in PATH"))
	version := strings.TrimSpace(strings.TrimPrefix(run(t, nil, built(t, "bin/tpsl"), "-version").succeeded(t).stdout, "tpsl "))
	assert.True(t, strings.HasPrefix(line(t, job, "libtpsl.so.0"), built(t, "lib/libtpsl.so.0")+": version "+version+", built with go"))
	assert.Contains(t, job.stdout, "\n  UCX_TLS=sm,self\n")
	assert.Equal(t, "works", line(t, job, "process_vm_readv"))
}

// A misspelt variable is told, with the name that was meant.
func TestDoctorVariables(t *testing.T) {
	testsupport.NothingLeft(t)
	job := doctor(t, []string{"TPSL_POLCY=x", "TPSL_YIELD=never"}, nil, nil).succeeded(t)
	assert.Contains(t, findings(t, job), "warning  TPSL_POLCY: is no variable of tpsl, and has no effect; did you mean TPSL_POLICY?")
	assert.NotContains(t, findings(t, job), "TPSL_YIELD")
}

// Limits too small for ranks are errors, with the figures of the child, not of doctor.
func TestDoctorLimits(t *testing.T) {
	for _, c := range []struct {
		limit string
		code  int
		name  string
		shows string // as a regular expression
		finds string
	}{
		{"-n 20", 1, "RLIMIT_NOFILE", "^20, hard 20, for about 0 ranks", "error    RLIMIT_NOFILE: 20, for about 0 ranks in a process"},
		{"-S -n 100", 0, "RLIMIT_NOFILE", "^100, hard [0-9]+, ", ""},
		{"-v 1000000", 1, "RLIMIT_AS", "^976 MiB, for about 0 ranks", "error    RLIMIT_AS: 976 MiB; needs 2048 MiB to start at all"},
		{"-c 0", 0, "RLIMIT_CORE", "^0 KiB", "note     RLIMIT_CORE: 0: a crash leaves no core"},
		{"-S -l 64", 0, "RLIMIT_MEMLOCK", "^64 KiB$", ""},
	} {
		t.Run(c.limit, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := doctor(t, nil, []string{"bash", "-c", "ulimit " + c.limit + "; exec \"$@\"", "bash"}, nil)
			assert.Equal(t, c.code, job.code, job.stdout)
			assert.Empty(t, job.stderr)
			assert.Regexp(t, c.shows, line(t, job, c.name))
			assert.Contains(t, findings(t, job), c.finds)
		})
	}
}

// A kernel that refuses copies between processes is found out by trying.
func TestDoctorCrossMemory(t *testing.T) {
	testsupport.NothingLeft(t)
	job := doctor(t, nil, kernels(t)["refused"], nil).succeeded(t)
	assert.Equal(t, "process_vm_readv: operation not permitted", line(t, job, "process_vm_readv"))
	assert.Equal(t, "2", line(t, job, "seccomp mode"))
	assert.Contains(t, findings(t, job), "warning  process_vm_readv: process_vm_readv: operation not permitted; needs it, or large messages")
}

// report runs doctor -json and returns what a reader of the document gets.
func report(t *testing.T, env []string, files ...string) (code int, r struct {
	OK        bool `json:"ok"`
	Libraries []struct {
		Wanted, Path, ABI, Version string
		Missing, Extra, Refused    []string
	}
	Findings []struct{ Severity, Subject, Value string }
}) {
	t.Helper()
	job := doctor(t, env, nil, append([]string{"-json"}, files...))
	assert.Empty(t, job.stderr)
	require.NoError(t, json.Unmarshal([]byte(job.stdout), &r), job.stdout)
	return job.code, r
}

// Each file that the user asks about is judged: what it is, what it lacks, what it has
// beyond the list, and why the loader would not take it.
func TestDoctorLibraries(t *testing.T) {
	textrel := library(t, "older", "-DTEXTREL", "-fno-pic", "-mcmodel=large", "-Wl,-z,notext")
	initialExec := library(t, "older", "-DTHREAD_LOCAL=600", "-ftls-model=initial-exec")
	for _, c := range []struct {
		name, file, abi string
		code            int
		finds           []string
	}{
		{"MPICH", mpich(t), "MPICH", 0, nil},
		{"older and newer", library(t, "older", "-DNEWER"), "MPICH", 0,
			[]string{"note: lacks ", " names of libtpsl's list: MPII_Comm_get_attr,", "note: has 2 MPI names that libtpsl lacks: MPIX_Newest, MPI_Newer"}},
		{"Open MPI", library(t, "fake_openmpi"), "Open MPI", 1, []string{"error: Open MPI"}},
		{"not MPI", "libm.so.6", "not MPI", 1, []string{"error: not MPI"}},
		{"stand-in", built(t, "lib/tpsl/libmpi.so.12"), "stand-in", 1, []string{"error: a stand-in that leads back to libtpsl"}},
		{"undefined symbol", library(t, "missing_symbol"), "MPICH", 1, []string{"error: refused: ", "symbol nobody_has_this is defined by no library"}},
		{"text relocations", textrel, "MPICH", 1, []string{"error: refused: ", "DT_TEXTREL"}},
		{"initial-exec", initialExec, "MPICH", 1, []string{"error: refused: ", "of the 512 of each thread's static block are left"}},
		{"not there", "/nowhere/libmpi.so", "", 1, []string{"error: find /nowhere/libmpi.so: not found"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			code, r := report(t, nil, c.file)
			assert.Equal(t, c.code, code)
			assert.Equal(t, code == 0, r.OK)
			last := r.Libraries[len(r.Libraries)-1]
			name := last.Wanted
			assert.Equal(t, c.file, name)
			assert.Equal(t, c.abi, last.ABI)
			var about []string
			for _, f := range r.Findings {
				if f.Subject == last.Path || f.Subject == last.Wanted {
					about = append(about, f.Severity+": "+f.Value)
				}
			}
			if c.finds == nil {
				assert.Empty(t, about)
			}
			for _, text := range c.finds {
				assert.Contains(t, strings.Join(about, "\n"), text)
			}
			assert.Equal(t, c.code == 1, slices.ContainsFunc(r.Findings, func(f struct{ Severity, Subject, Value string }) bool {
				return f.Severity == "error"
			}))
		})
	}
}

// ofOldestVersion returns the names that the oldest version of the list has.
func ofOldestVersion() (list []string) {
	for _, s := range names.List() {
		if s.Since == "4.0" {
			list = append(list, s.Names...)
		}
	}
	return list
}

// The names that a library lacks are complete, and its version is what it says.
func TestDoctorNames(t *testing.T) {
	older := library(t, "older", "-DNEWER")
	code, r := report(t, []string{"TPSL_MPI_LIBRARY=" + older})
	assert.Zero(t, code)
	assert.Equal(t, older, r.Libraries[0].Path)
	assert.Equal(t, "0.9-test", r.Libraries[0].Version)
	assert.Equal(t, []string{"MPIX_Newest", "MPI_Newer"}, r.Libraries[0].Extra)
	has := []string{"MPI_Init", "PMPI_Init", "PMPI_Comm_size", "PMPI_Finalize"}
	assert.Len(t, r.Libraries[0].Missing, len(ofOldestVersion())-len(has), "it is older than the oldest version of the list")
	for _, name := range has {
		assert.NotContains(t, r.Libraries[0].Missing, name)
	}
	assert.Contains(t, r.Libraries[0].Missing, "MPI_Barrier")
}

// The library that programs would run on is the one that is judged.
func TestDoctorChoice(t *testing.T) {
	fake := library(t, "fake_openmpi")
	job := doctor(t, []string{"TPSL_MPI_LIBRARY=" + fake}, nil, nil)
	assert.Equal(t, 1, job.code)
	assert.Contains(t, findings(t, job), "error    MPI library: "+fake+" is Open MPI: its ABI is not MPICH's; name a library")

	dir := filepath.Join(testsupport.Build(t), "lib/tpsl")
	job = doctor(t, []string{"LD_LIBRARY_PATH=" + dir}, nil, nil)
	assert.Zero(t, job.code, "stand-ins are passed over")
	assert.NotContains(t, line(t, job, "libmpich.so.12"), dir)
	job = doctor(t, []string{"TPSL_MPI_LIBRARY=" + filepath.Join(dir, "libmpich.so.12")}, nil, nil)
	assert.Equal(t, 1, job.code)
	assert.Contains(t, findings(t, job), "is a stand-in that leads back to libtpsl: name a library")
}

// Without its library, or with that of another version, tpsl says so.
func TestDoctorInstallation(t *testing.T) {
	prefix := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(prefix, "bin"), 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(prefix, "lib"), 0o755))
	program := changed(t, built(t, "bin/tpsl"), "tpsl", func(b []byte) []byte { return b })
	require.NoError(t, os.Rename(program, filepath.Join(prefix, "bin/tpsl")))
	missing := filepath.Join(prefix, "lib/libtpsl.so.0")
	other := built(t, "bin")
	job := run(t, []string{"PATH=" + other + ":" + os.Getenv("PATH")}, filepath.Join(prefix, "bin/tpsl"), "doctor")
	assert.Equal(t, 1, job.code)
	assert.Contains(t, findings(t, job), "warning  PATH: mpiexec is "+other+"/mpiexec (HYDRA build details ")
	assert.Contains(t, findings(t, job), "warning  PATH: tpslcc is "+other+"/tpslcc, of another installation; needs "+prefix+"/bin/tpslcc")
	assert.Contains(t, findings(t, job), "error    libtpsl.so.0: open "+missing+": no such file or directory; install tpsl anew")

	require.NoError(t, os.Symlink(library(t, "older"), missing))
	job = run(t, nil, filepath.Join(prefix, "bin/tpsl"), "doctor")
	assert.Equal(t, 1, job.code)
	assert.Contains(t, findings(t, job), "error    "+missing+": lacks ")
}

// Wrong use is a line and 255, as mpiexec's.
func TestTpslUsage(t *testing.T) {
	for _, c := range []struct {
		arguments, stdout, stderr string
		code                      int
	}{
		{"-h", "doctor ", "", 0},
		{"help", "doctor ", "", 0},
		{"--version", "tpsl ", "", 0},
		{"doctor -h", "usage: tpsl doctor [-json] [FILE]...", "", 0},
		{"", "", "tpsl: no command given; try tpsl -h\n", 255},
		{"docter", "", "tpsl: unknown command docter; did you mean doctor?\n", 255},
		{"doctor -jsom", "", "tpsl doctor: unknown option -jsom (did you mean -json?); try tpsl doctor -h\n", 255},
	} {
		t.Run(c.arguments, func(t *testing.T) {
			job := run(t, nil, append([]string{built(t, "bin/tpsl")}, strings.Fields(c.arguments)...)...)
			assert.Equal(t, c.code, job.code)
			assert.Contains(t, job.stdout, c.stdout)
			assert.Equal(t, c.stderr, job.stderr)
		})
	}
}
