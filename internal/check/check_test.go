// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/loader/search"
	"github.com/tpsl/tpsl/tpsl/names"
)

// made compiles C text; -shared and the like are among the flags.
func made(t *testing.T, compiler, text string, flags ...string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "made.c")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	return testsupport.CC(t, compiler, source, flags...)
}

// row returns the object whose name begins so.
func row(t *testing.T, r Report, name string) Object {
	t.Helper()
	i := slices.IndexFunc(r.Objects, func(o Object) bool { return strings.HasPrefix(o.Name, name) })
	require.NotEqual(t, -1, i, "%s in %v", name, r.Objects)
	return r.Objects[i]
}

// readelf counts the relocations of a file by type.
func readelf(t *testing.T, path string) map[string]int {
	t.Helper()
	testsupport.Require(t, "readelf")
	out, stderr, code := testsupport.Run(t, time.Minute, nil, "readelf", "-rW", path)
	require.Zero(t, code, stderr)
	counts := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^[0-9a-f]{16}  [0-9a-f]{16} R_X86_64_(\w+)`).FindAllStringSubmatch(out, -1) {
		name := strings.Replace(m[1], "JUMP_SLO", "JMP_SLOT", 1) // cut off to the width of its column
		counts[strings.Replace(name, "JMP_SLOTT", "JMP_SLOT", 1)]++
	}
	return counts
}

// The rows are the objects of the plan that libtpsl would make, and their relocations those
// that readelf counts.
func TestMPICH(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	r := File("libmpich.so.12")
	assert.Empty(t, r.Refused)
	assert.True(t, r.OK)
	assert.Equal(t, KindLibrary, r.Kind)
	p, err := plan.Make("libmpich.so.12", plan.Options{Policy: plan.DefaultPolicies().Opened, Search: search.New(""), Unified: names.Data})
	require.NoError(t, err)
	require.Len(t, r.Objects, len(p.Objects))
	stores := 0
	for i, o := range p.Objects {
		have := r.Objects[i]
		assert.Equal(t, []string{o.Name, o.Placement.String()}, []string{have.Name, have.Placement})
		assert.Equal(t, len(o.Stores), total(have.Relocations), o.Name)
		if o.Placement != plan.Shared {
			assert.Equal(t, readelf(t, o.Path), have.Relocations, o.Name)
		}
		if o.Placement == plan.Private {
			stores += len(o.Stores)
		}
	}
	assert.Equal(t, stores, total(r.Instance.Relocations))

	mpich := r.Objects[0]
	assert.Equal(t, "asked for", mpich.Where)
	assert.Equal(t, TLS{modelDynamic, 16, 0}, mpich.TLS)
	assert.Greater(t, mpich.Text, uint64(30<<20))
	assert.Zero(t, mpich.Data%pageSize)
	assert.Less(t, mpich.Data, uint64(1<<20))
	for _, name := range []string{"getenv", "__tls_get_addr"} {
		assert.Contains(t, mpich.Rebound, name)
	}
	ucm := row(t, r, "libucm")
	assert.Regexp(t, `^policy.default:\d+$`, ucm.Where)
	assert.Equal(t, "libucm.so.*", ucm.Rule)
	assert.NotContains(t, ucm.Rebound, "mmap", "only private objects get it")
}

// A library of the program is looked at as its ranks would get it, with the MPI library.
func TestLibraryOfTheProgram(t *testing.T) {
	hdf5 := "libhdf5_mpich.so.103"
	if _, err := search.New("").Find(hdf5, nil); err != nil {
		testsupport.Require(t, "h5pcc.mpich") // what is missing
	}
	r := File(hdf5)
	assert.Empty(t, r.Refused)
	assert.Equal(t, KindProgramLibrary, r.Kind)
	assert.Equal(t, "private", r.Objects[0].Placement)
	assert.Equal(t, "libhdf5_mpich.so.*", r.Objects[0].Rule)
	assert.Equal(t, "shared", row(t, r, "libcrypto").Placement, "what it needs is the program's")
	assert.Equal(t, "the MPI library", row(t, r, "libmpich").Where)
	assert.Equal(t, "private", row(t, r, "libucp").Placement)
	assert.Equal(t, row(t, r, "libmpich").Path, r.MPILibrary)
}

// The rule that decides is told, whoever gave it.
func TestRules(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy")
	require.NoError(t, os.WriteFile(policy, []byte("\nlibz.so.* private\n[program]\nmade* private\n"), 0o600))
	t.Setenv("TPSL_POLICY", policy)
	path := made(t, "gcc", "#include <stdio.h>\n#include <stdlib.h>\nextern char *zlibVersion(void);\n"+
		"const char *f(void) { return getenv(zlibVersion()); }\n__attribute__((constructor)) static void first(void) { puts(\"\"); }",
		"-shared", "-fPIC", "-Wl,-soname,libasked.so", "-l:libz.so.1")
	r := File(path)
	assert.Empty(t, r.Refused)
	z := row(t, r, "libz.so")
	assert.Equal(t, []string{"private", "libz.so.*", policy + ":2"}, []string{z.Placement, z.Rule, z.Where})
	assert.Equal(t, []string{"__cxa_finalize", "getenv"}, r.Objects[0].Rebound)
	plain := row(t, r, "libz.so").Init
	assert.Equal(t, plain+1, r.Objects[0].Init, "a constructor beside those that every library has")

	require.NoError(t, os.WriteFile(policy, []byte("\nlibz.so.* personal\n"), 0o600))
	r = File(path)
	assert.Equal(t, []string{"TPSL_POLICY: " + policy + `:2: placement "personal" is none of private, once, shared; tpsl(7) has the form of a policy`}, r.Refused)
}

func TestThreadLocalStorage(t *testing.T) {
	const text = "__thread int a[3] = {1}; __thread int b; int f(void) { return a[1] + b; }"
	shared := []string{"-shared", "-fPIC", "-O1"}
	for name, c := range map[string]struct {
		path string
		want TLS
	}{
		"none":        {made(t, "gcc", "int f(void) { return 1; }", shared...), TLS{}},
		"dynamic":     {made(t, "gcc", text, shared...), TLS{modelDynamic, 16, 0}},
		"descriptors": {made(t, "gcc", text, append(shared, "-mtls-dialect=gnu2")...), TLS{modelDescriptors, 16, 0}},
		"initial":     {made(t, "gcc", text, append(shared, "-ftls-model=initial-exec")...), TLS{modelInitialExec, 16, 16}},
		"libc's":      {made(t, "gcc", "#include <errno.h>\nextern __thread int h_errno; int f(void) { return errno; }", append(shared, "-ftls-model=initial-exec")...), TLS{}},
		"local":       {made(t, "gcc", text+"int main(void) { return f(); }", "-O1"), TLS{modelLocalExec, 16, 16}},
	} {
		r := File(c.path)
		assert.Equal(t, c.want, r.Objects[0].TLS, name)
		if r.Kind == KindLibrary {
			assert.Equal(t, c.want.Static, r.Instance.Static, name)
			assert.True(t, r.OK, r.Refused)
		}
	}
	below := made(t, "gcc", "__thread char far[10] __attribute__((aligned(32)));", append(shared, "-Wl,-soname,libfar.so")...)
	far := filepath.Join(filepath.Dir(below), "libfar.so")
	require.NoError(t, os.Rename(below, far))
	r := File(made(t, "gcc", "extern __thread char far[]; __thread char near; int f(void) { return far[0] + near; }",
		append(shared, "-ftls-model=initial-exec", far, "-Wl,-rpath,"+filepath.Dir(far))...))
	require.Empty(t, r.Refused)
	assert.Equal(t, TLS{modelInitialExec, 10, 10}, row(t, r, "libfar.so").TLS, "by the code of another")
	assert.Greater(t, r.Instance.Static, uint64(11), "with what alignment takes")

	var out bytes.Buffer
	File(made(t, "gcc", text, append(shared, "-ftls-model=initial-exec")...)).Print(&out, mostVariables)
	assert.Contains(t, out.String(), "16 of the 512 bytes of each thread's static TLS block")
}

func TestRefused(t *testing.T) {
	shared := []string{"-shared", "-fPIC"}
	big := made(t, "gcc", "__thread char block[1 << 20]; char *f(void) { return block; }", append(shared, "-ftls-model=initial-exec")...)
	text := made(t, "gcc", "int v; int *f(void) { return &v; }", "-shared", "-fno-pic", "-mcmodel=large", "-Wl,-z,notext")
	missing := made(t, "gcc", "int no_such_function(void); int f(void) { return no_such_function(); }", shared...)
	below := made(t, "gcc", "int f(void) { return 3; }", append(shared, "-Wl,-soname,libgone.so.7")...)
	gone := made(t, "gcc", "int f(void); int g(void) { return f(); }", append(shared, below)...)
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, []byte("no library, but longer than a header of ELF files is, by some letters\n"), 0o600))
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	for _, c := range []struct {
		name, file string
		at         bool // the problem stands at the object, too
		says       []string
	}{
		{"initial-exec block", big, true, []string{big + ": ", "initial-exec thread-local storage", "-ftls-model=global-dynamic"}},
		{"text relocations", text, true, []string{text + ": text relocations (DT_TEXTREL): rebuild it with -fPIC"}},
		{"undefined symbol", missing, true, []string{missing + ": symbol no_such_function is defined by no library: link it with"}},
		{"missing library", gone, false, []string{"libgone.so.7: not found", gone, "LD_LIBRARY_PATH"}},
		{"the C library", "libc.so.6", true, []string{"/libc.so.6: libc.so.6 is one for the whole process"}},
		{"not ELF", plain, false, []string{plain, "not an ELF file"}},
		{"FIFO", fifo, false, []string{fifo + ": not a regular file"}},
		{"no file", plain + ".so.1", false, []string{plain + ".so.1", "not found"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := File(c.file)
			assert.False(t, r.OK)
			require.Len(t, r.Refused, 1)
			for _, says := range c.says {
				assert.Contains(t, r.Refused[0], says)
			}
			assert.NotContains(t, r.Refused[0], plan.ErrUnsupported.Error(), "the remedy comes last")
			if c.at {
				assert.Equal(t, r.Refused[0], r.File+": "+r.Objects[0].Refused[0])
			}
		})
	}
}

// What a private program has for thread-locals is what the host has, and all is the
// rank's own but what cannot be.
func TestPrivateProgram(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	root := testsupport.Build(t)
	executable = func() (string, error) { return root + "/bin/tpsl", nil }
	defer func() { executable = os.Executable }()
	const text = "#include <mpi.h>\n#include <stdlib.h>\nint omp_get_num_threads(void);\n__thread char block[SIZE];\n" +
		"int main(int c, char **v) { return getenv(block) ? omp_get_num_threads() : MPI_Init(&c, &v); }"
	r := File(made(t, "mpicc.mpich", text, "-fopenmp", "-DSIZE=100"))
	require.Empty(t, r.Refused)
	assert.Equal(t, TLS{modelLocalExec, 100, 100}, r.Objects[0].TLS)
	assert.Equal(t, "private", row(t, r, "libgomp").Placement)
	assert.Equal(t, "private", row(t, r, "libnuma").Placement)
	assert.Equal(t, "libtpslshim.so", r.Objects[1].Name, "in front of what the program needs")
	assert.NotContains(t, r.Objects[0].Rebound, "getenv", "a rank has an environment of its own")
	assert.Contains(t, row(t, r, "libmpich").Rebound, "mmap")
	assert.Equal(t, uint64(64<<10), r.Instance.StaticMax)

	r = File(made(t, "mpicc.mpich", text, "-fopenmp", "-DSIZE=100000"))
	assert.False(t, r.OK)
	require.Len(t, r.Refused, 1)
	assert.Contains(t, r.Refused[0], "of the 65536 of each thread's static block")

	executable = func() (string, error) { return "/usr/bin/env", nil }
	r = File(made(t, "mpicc.mpich", text, "-fopenmp", "-DSIZE=100"))
	assert.Regexp(t, "^private mode: .*/lib/tpsl/host: .*; install tpsl anew$", strings.Join(r.Refused, ""))
}

func TestModes(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	root := testsupport.Build(t)
	executable = func() (string, error) { return root + "/bin/tpsl", nil }
	defer func() { executable = os.Executable }()
	const plain, mpi = "int main(void) { return 0; }", "#include <mpi.h>\nint main(int c, char **v) { return MPI_Init(&c, &v); }"
	pie, fixed := made(t, "mpicc.mpich", mpi, "-pie", "-fPIE"), made(t, "mpicc.mpich", mpi, "-no-pie")
	setuid := filepath.Join(t.TempDir(), "setuid")
	program, err := os.ReadFile(pie)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(setuid, program, 0o755))
	require.NoError(t, os.Chmod(setuid, 0o755|os.ModeSetuid))
	type mode struct {
		name string
		ok   bool
		says string
	}
	for name, c := range map[string]struct {
		file  string
		modes []mode
	}{
		"tpslcc":        {made(t, "tpslcc", mpi), []mode{{"shared", true, "linked with libtpsl.so.0"}}},
		"flat":          {pie, []mode{{"private", true, "linked with libmpich.so.12"}, {"stand-in", true, "-tpsl shared"}}},
		"flat, ET_EXEC": {fixed, []mode{{"private", false, "-fPIE -pie"}, {"stand-in", true, "-tpsl shared"}}},
		"set-user-ID":   {setuid, []mode{{"private", false, "set-user-ID"}, {"stand-in", false, "relink it with tpslcc"}}},
		"not MPI":       {made(t, "gcc", plain), []mode{{"shared", false, "linked with none of libtpsl.so.0, libmpich.so.12, libmpi.so.12: relink it with tpslcc, or use mpiexec -tpsl private"}}},
		"static":        {made(t, "gcc", plain, "-static"), []mode{{"shared", false, "statically linked"}}},
		"static PIE":    {made(t, "gcc", plain, "-static-pie"), []mode{{"shared", false, "statically linked"}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := File(c.file)
			assert.Equal(t, KindProgram, r.Kind)
			assert.Empty(t, r.Refused)
			require.Len(t, r.Modes, len(c.modes), r.Modes)
			can := false
			for i, m := range c.modes {
				assert.Equal(t, m.name, r.Modes[i].Name)
				assert.Equal(t, m.ok, r.Modes[i].OK, r.Modes[i].Why)
				assert.Contains(t, r.Modes[i].Why, m.says)
				can = can || m.ok
			}
			assert.Equal(t, can, r.OK)
			assert.Equal(t, "the program", r.Objects[0].Where)
			if can {
				assert.Equal(t, "private", row(t, r, "libmpich").Placement)
				assert.Equal(t, "private", row(t, r, "libucp").Placement)
			}
		})
	}
}

// A program of Python is looked at as its ranks run it: Debian's interpreter by its library, another one by itself.
func TestPython(t *testing.T) {
	const debian = "/usr/bin/python3"
	if _, err := os.Stat(debian); err != nil {
		testsupport.Unable(t, "%v", err)
	}
	root := testsupport.Build(t)
	executable = func() (string, error) { return root + "/bin/tpsl", nil }
	defer func() { executable = os.Executable }()
	t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/usr/bin/env python3\n"), 0o700))
	for _, name := range []string{debian, "python3", script} {
		r := File(name)
		assert.True(t, r.OK)
		assert.Empty(t, r.Refused)
		assert.Equal(t, KindProgram, r.Kind)
		require.Len(t, r.Modes, 1)
		assert.Regexp(t, `^run by CPython, /usr/bin/python3; its ranks run /\S+/libpython3\S+ in place of that$`, r.Modes[0].Why)
		assert.Equal(t, root+"/lib/tpsl/python", r.Objects[0].Path)
		libpython := row(t, r, "libpython3")
		assert.Equal(t, []string{"private", "opened by the program"}, []string{libpython.Placement, libpython.Where})
		assert.Equal(t, "private", row(t, r, "libexpat").Placement)
	}
	pie := made(t, "gcc", "int Py_BytesMain(void) { return 0; } int main(void) { return Py_BytesMain(); }", "-rdynamic", "-pie", "-fPIE")
	r := File(pie)
	assert.Equal(t, []Mode{{modePrivate, true, "run by CPython, which is position-independent: " + pie}}, r.Modes)
	assert.Equal(t, pie, r.Objects[0].Path)
	shim := filepath.Join(t.TempDir(), "python3")
	require.NoError(t, os.WriteFile(shim, []byte("#!/bin/sh\nexec "+debian+" -c \"import sys; sys.abiflags='odd'\n$4\"\n"), 0o700))
	r = File(shim)
	assert.False(t, r.OK)
	assert.Regexp(t, "which is not installed; install Debian's package libpython3.*odd", r.Modes[0].Why)
}

// A program of Open MPI runs as private ranks, and has no thread ranks.
func TestModesOfOpenMPI(t *testing.T) {
	testsupport.Require(t, "mpicc.openmpi")
	root := testsupport.Build(t)
	executable = func() (string, error) { return root + "/bin/tpsl", nil }
	defer func() { executable = os.Executable }()
	r := File(made(t, "mpicc.openmpi", "#include <mpi.h>\nint main(int c, char **v) { return MPI_Init(&c, &v); }"))
	assert.True(t, r.OK)
	assert.Empty(t, r.Refused)
	require.Len(t, r.Modes, 2)
	assert.Equal(t, Mode{modePrivate, true, "position-independent, linked with libmpi.so.40"}, r.Modes[0])
	assert.False(t, r.Modes[1].OK)
	assert.Contains(t, r.Modes[1].Why, "Open MPI")
	assert.Contains(t, r.MPILibrary, "libmpi.so.40")
	assert.Equal(t, "private", row(t, r, "libmpi").Placement)
	assert.Equal(t, "private", row(t, r, "libopen-pal").Placement)
}

// A flat program for the standard ABI runs as private ranks, and over a stand-in.
func TestModesOfStandardABI(t *testing.T) {
	root := testsupport.Build(t)
	executable = func() (string, error) { return root + "/bin/tpsl", nil }
	defer func() { executable = os.Executable }()
	library := made(t, "gcc", "int PMPI_Init, PMPI_Abi_get_version;", "-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.1")
	folder := t.TempDir()
	require.NoError(t, os.Symlink(library, folder+"/libmpi_abi.so.1"))
	r := File(made(t, "gcc", "int main(void) { return 0; }", "-Wl,--no-as-needed", library, "-Wl,-rpath,"+folder))
	assert.True(t, r.OK)
	assert.Empty(t, r.Refused)
	require.Len(t, r.Modes, 2)
	assert.Equal(t, Mode{modePrivate, true, "position-independent, linked with libmpi_abi.so.1"}, r.Modes[0])
	assert.Equal(t, Mode{modeStandIn, true, "linked with libmpi_abi.so.1: under mpiexec -tpsl shared, if its threads call MPI_Init"}, r.Modes[1])
	assert.Contains(t, r.MPILibrary, "libmpi_abi.so.1")
	assert.Equal(t, "standard ABI", r.MPI.ABI)
	assert.Equal(t, "private", row(t, r, "libmpi_abi").Placement)
}

// What is printed is short and aligned: each column begins where its heading does.
func TestPrint(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	var out bytes.Buffer
	File("libmpich.so.12").Print(&out, mostVariables)
	lines := strings.Split(out.String(), "\n")
	require.Greater(t, len(lines), 10)
	assert.Regexp(t, `^/\S*/libmpich.so.12: a library; loadable$`, lines[0])
	heading := lines[2]
	for _, column := range []string{"TEXT", "RELOCS", "RULE", "FILE"} {
		at := strings.Index(heading, column)
		require.Positive(t, at)
		for _, l := range lines[3:8] {
			assert.Equal(t, byte(' '), l[at-1], l)
			assert.NotEqual(t, byte(' '), l[at], l)
		}
	}
	assert.Regexp(t, `(?m)^An instance has \d+ KiB of its own and shares \d+ MiB of text\. It writes \d+ relocations: \d+ RELATIVE, `, out.String())
}

func TestCommand(t *testing.T) {
	text := made(t, "gcc", "int v; int *f(void) { return &v; }", "-shared", "-fno-pic", "-mcmodel=large", "-Wl,-z,notext")
	for _, c := range []struct {
		arguments string
		code      int
		out, err  string
	}{
		{"-h", 0, "usage: tpsl check", ""},
		{"libz.so.1", 0, ": a library; loadable", ""},
		{text, 1, text + ": refused", ""},
		{"", 255, "", "tpsl check: want one FILE, have 0; try tpsl check -h\n"},
		{"a b", 255, "", "want one FILE, have 2"},
		{"-x a", 255, "", "-x"},
	} {
		var out, errOut bytes.Buffer
		assert.Equal(t, c.code, Command(strings.Fields(c.arguments), &out, &errOut), c.arguments)
		assert.Contains(t, out.String(), c.out)
		assert.Contains(t, errOut.String(), c.err)
	}
	var out bytes.Buffer
	require.Zero(t, Command([]string{"-json", "libz.so.1"}, &out, &out))
	var fields map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &fields))
	for _, name := range []string{"file", "kind", "mpi_library", "objects", "instance", "modes", "shared_variables", "unseen_variables", "refused", "ok"} {
		assert.Contains(t, fields, name)
	}
	object := fields["objects"].([]any)[0].(map[string]any)
	for _, name := range []string{"name", "path", "placement", "rule", "where", "text_bytes", "data_bytes", "relocations", "tls", "constructors", "rebound", "refused"} {
		assert.Contains(t, object, name)
	}
}

// What the MPI library is, and what it lacks of what a program calls, is told from its file. One of another ABI is refused, and so
// are two in a program.
func TestMPILibrary(t *testing.T) {
	const program = "int MPI_Init(int *, char ***), MPI_Barrier(int); int main(void) { return MPI_Init(0, 0) + MPI_Barrier(0); }"
	const header = "#define MPI_ABI_VERSION 1\ntypedef struct MPI_ABI_Comm *MPI_Comm;\n"
	headers := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(headers, "mpi_abi.h"), []byte(header), 0o600))
	old := made(t, "gcc", `int PMPI_Init, MPI_Init; const char MPII_Version_string[] = "1.0"; const char *v(void) { return "PMI_FD"; }`, "-shared", "-fPIC")
	standard := made(t, "gcc", "int PMPI_Init, MPI_Init, MPI_Barrier, PMPI_Abi_get_version;", "-shared", "-fPIC")
	mpich := made(t, "tpslcc", program)
	t.Setenv("TPSL_MPI_INCLUDE", headers)
	portable := made(t, "tpslcc", program, "-mpi=abi")
	both := made(t, "tpslcc", program, "-mpi=abi", "-Wl,--no-as-needed", "-l:libmpi.so.12")
	for _, c := range []struct {
		name, program, library string
		mpi                    MPI
		lacks                  []string
		refused, printed       string
	}{
		{"older", mpich, old, MPI{"MPICH", "MPICH", "1.0", "PMI"}, []string{"MPI_Barrier"}, "", "has the ABI of MPICH, is of MPICH 1.0, speaks PMI"},
		{"standard", portable, standard, MPI{ABI: "standard ABI"}, []string{}, "", standard + " has the standard ABI\n"},
		{"other ABI", mpich, standard, MPI{}, []string{}, standard + " has the standard ABI, and the program was built for MPICH's", ""},
		{"both", both, standard, MPI{}, []string{}, "linked with libmpi.so.12 (MPICH) and with libmpi_abi.so.1 (standard ABI)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TPSL_MPI_LIBRARY", c.library)
			r := File(c.program)
			assert.Equal(t, c.mpi, r.MPI)
			assert.Equal(t, c.lacks, r.Lacks)
			assert.Equal(t, c.refused == "", r.OK)
			assert.Contains(t, strings.Join(r.Refused, "\n"), c.refused)
			var text bytes.Buffer
			r.Print(&text, mostVariables)
			assert.Contains(t, text.String(), c.printed)
			assert.Equal(t, len(c.lacks) > 0, strings.Contains(text.String(), "has no MPI_Barrier: a call ends the job"))
		})
	}
}
