// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/mpilib"
)

// healthy returns the facts of a machine with four CPUs on which nothing would fail.
func healthy() Facts {
	mpich := Library{Wanted: "libmpich.so.12", By: byDefault, Path: "/lib/libmpich.so.12", ABI: mpilib.MPICH, Version: "4.0.2"}
	return Facts{
		Version: "1.2.3",
		System:  System{CPUsOnline: 8, CPUsAllowed: 4, CgroupMemory: Unlimited, CgroupPids: Unknown},
		Limits: Limits{
			MaxMapCount: 65530, FilesSoft: 1024, FilesHard: 4096, AddressSpace: Unlimited, LockedMemory: 8 << 20,
			Core: Unlimited, ShmSize: 1 << 30, ShmFree: 1 << 30, PtraceScope: Unknown, PerfEventParanoid: 2, CrossMemory: crossMemoryWorks,
			RanksByFiles: 255, RanksByMaps: 934, RanksByAddress: Unlimited, RanksByShm: 204,
		},
		Libraries:    []Library{mpich, {Wanted: "libmpi.so.12", By: byDefault, Error: "find libmpi.so.12: not found"}},
		Chosen:       Chosen{Path: mpich.Path},
		Installation: Installation{Prefix: "/opt/tpsl", Libtpsl: "/opt/tpsl/lib/libtpsl.so.0", LibtpslIs: "1.2.3", Mpiexec: "/opt/tpsl/bin/mpiexec", MpiexecKind: kindOurs},
	}
}

func TestHealthy(t *testing.T) {
	assert.Empty(t, Judge(healthy()))
	assert.True(t, NewReport(healthy()).OK)
}

// Every row makes one thing worse; there is one finding, and it says what and how to
// help.
func TestJudge(t *testing.T) {
	argument := func(f *Facts, l Library) {
		l.By = byArgument
		f.Libraries = append(f.Libraries, l)
	}
	for _, c := range []struct {
		name     string
		change   func(f *Facts)
		severity Severity
		says     []string
	}{
		{"no MPI library", func(f *Facts) { f.Chosen = Chosen{Error: "no MPI library: not found; install MPICH"} }, Error,
			[]string{"MPI library: no MPI library: not found; install MPICH"}},
		{"refused", func(f *Facts) { f.Libraries[0].Refused = []string{"libx.so: text relocations"} }, Error,
			[]string{"/lib/libmpich.so.12: refused: libx.so: text relocations", "TPSL_MPI_LIBRARY"}},
		{"missing", func(f *Facts) { f.Libraries[0].Missing = []string{"MPI_A", "MPI_B", "MPI_C", "MPI_D", "MPI_E"} }, Note,
			[]string{"lacks 5 names of libtpsl's list: MPI_A, MPI_B, MPI_C, MPI_D, ...", "only when it calls one"}},
		{"extra", func(f *Facts) { f.Libraries[0].Extra = []string{"MPIX_New"} }, Note,
			[]string{"has 1 MPI name that libtpsl lacks: MPIX_New", "tpsl names"}},
		{"argument is Open MPI", func(f *Facts) { argument(f, Library{Path: "/x/libmpi.so.40", ABI: mpilib.OpenMPI}) }, Error,
			[]string{"/x/libmpi.so.40: Open MPI; needs the MPICH ABI"}},
		{"argument is not MPI", func(f *Facts) { argument(f, Library{Path: "/x/libm.so", ABI: mpilib.NotMPI}) }, Error,
			[]string{"/x/libm.so: not MPI; needs the MPICH ABI"}},
		{"argument is a stand-in", func(f *Facts) { argument(f, Library{Path: "/x/lib/tpsl/libmpich.so.12", ABI: mpilib.StandIn}) }, Error,
			[]string{"a stand-in that leads back to libtpsl"}},
		{"argument is not there", func(f *Facts) { argument(f, Library{Wanted: "libx.so", Error: "find libx.so: not found"}) }, Error,
			[]string{"libx.so: find libx.so: not found"}},
		{"policy", func(f *Facts) { f.Private.Error = "TPSL_PRIVATE=[: pattern; give patterns" }, Error, []string{"placement of libraries: TPSL_PRIVATE=[: pattern; give patterns"}},
		{"no libtpsl", func(f *Facts) { f.Installation.LibtpslError = "open /opt/tpsl/lib/libtpsl.so.0: no such file" }, Error,
			[]string{"libtpsl.so.0: open /opt/tpsl/lib/libtpsl.so.0: no such file; install tpsl anew"}},
		{"older libtpsl", func(f *Facts) { f.Installation.LibtpslLacks = 3 }, Error, []string{"lacks 3 names that tpsl 1.2.3 knows"}},
		{"libtpsl of another version", func(f *Facts) { f.Installation.LibtpslIs = "1.2.2" }, Error,
			[]string{`/opt/tpsl/lib/libtpsl.so.0: is of version "1.2.2", tpsl of 1.2.3; needs the same version`}},
		{"no mpiexec", func(f *Facts) { f.Installation.Mpiexec, f.Installation.MpiexecKind = "", "" }, Warning,
			[]string{"PATH: has no mpiexec; needs /opt/tpsl/bin"}},
		{"foreign mpiexec", func(f *Facts) {
			f.Installation.Mpiexec, f.Installation.MpiexecKind = "/usr/bin/mpiexec", "HYDRA build details 4.0.2"
		}, Warning, []string{"mpiexec is /usr/bin/mpiexec (HYDRA build details 4.0.2)", "/opt/tpsl/bin/mpiexec"}},
		{"foreign tpslcc", func(f *Facts) { f.Installation.Tpslcc = "/usr/bin/tpslcc" }, Warning, []string{"tpslcc is /usr/bin/tpslcc"}},
		{"few descriptors", func(f *Facts) { f.Limits.FilesHard, f.Limits.RanksByFiles = 64, 3 }, Warning,
			[]string{"RLIMIT_NOFILE: 64, for about 3 ranks", "needs about 80 for one on each of 4 CPUs", "ulimit -n 160"}},
		{"no descriptors", func(f *Facts) { f.Limits.FilesHard, f.Limits.RanksByFiles = 20, 0 }, Error, []string{"RLIMIT_NOFILE: 20, for about 0 ranks"}},
		{"few mappings", func(f *Facts) { f.Limits.MaxMapCount, f.Limits.RanksByMaps = 200, 1 }, Warning,
			[]string{"vm.max_map_count: 200, for about 1 rank in", "needs about 380", "sysctl vm.max_map_count=760"}},
		{"no mappings", func(f *Facts) { f.Limits.MaxMapCount, f.Limits.RanksByMaps = 100, 0 }, Error, []string{"vm.max_map_count: 100"}},
		{"little address space", func(f *Facts) { f.Limits.AddressSpace, f.Limits.RanksByAddress = 2050<<20, 3 }, Warning,
			[]string{"RLIMIT_AS: 2050 MiB, for about 3 ranks", "needs about 2100 MiB", "ulimit -v $((4200*1024))"}},
		{"too little address space", func(f *Facts) { f.Limits.AddressSpace, f.Limits.RanksByAddress = 1<<30, 0 }, Error,
			[]string{"RLIMIT_AS: 1024 MiB; needs 2048 MiB to start at all"}},
		{"no /dev/shm", func(f *Facts) { f.Limits.ShmSize, f.Limits.ShmFree, f.Limits.RanksByShm = Unknown, Unknown, Unknown }, Warning,
			[]string{"/dev/shm: is not there"}},
		{"small /dev/shm", func(f *Facts) { f.Limits.ShmFree, f.Limits.RanksByShm = 16<<20, 3 }, Warning,
			[]string{"/dev/shm: 16 MiB free of 1024 MiB", "needs about 20 MiB", "--shm-size"}},
		{"no cross memory, Yama", func(f *Facts) { f.Limits.CrossMemory, f.Limits.PtraceScope, f.System.Root = "EPERM", 2, true }, Warning,
			[]string{"process_vm_readv: EPERM", "copied twice", "kernel.yama.ptrace_scope=1"}},
		{"no cross memory, seccomp", func(f *Facts) { f.Limits.CrossMemory, f.Limits.Seccomp = "ENOSYS", 2 }, Warning,
			[]string{"process_vm_readv: ENOSYS", "seccomp filter (mode 2", "SYS_PTRACE"}},
		{"no cross memory", func(f *Facts) { f.Limits.CrossMemory = "EPERM" }, Warning, []string{"larger -rpp"}},
		{"cross memory not tried", func(f *Facts) { f.Limits.CrossMemory = "not tried: no cat" }, Note, []string{"process_vm_readv: not tried: no cat"}},
		{"RDMA", func(f *Facts) {
			f.RDMA = []Port{{"a:1", "", ""}, {"b:1", "RDMA port b:1 is down", "bring it up"}}
		}, Warning, []string{"RDMA port b:1: RDMA port b:1 is down", "bring it up"}},
		{"no core", func(f *Facts) { f.Limits.Core = 0 }, Note, []string{"RLIMIT_CORE: 0", "ulimit -c unlimited"}},
		{"no perf", func(f *Facts) { f.Limits.PerfEventParanoid = 3 }, Note, []string{"kernel.perf_event_paranoid: 3"}},
		{"no attaching", func(f *Facts) { f.Limits.PtraceScope = 1 }, Note, []string{"kernel.yama.ptrace_scope: 1"}},
		{"older glibc than that of the build", func(f *Facts) {
			f.Installation.Unmet = []string{"/opt/tpsl/lib/tpsl/libtpslhost.so: needs version GLIBC_2.38 of libc.so.6"}
		}, Error, []string{"/opt/tpsl/lib/tpsl/libtpslhost.so: needs version GLIBC_2.38 of libc.so.6, which this machine's lacks; build tpsl on this machine"}},
		{"glibc 2.34", func(f *Facts) { f.System.LibcLacks = []string{"_dl_find_object", "__rseq_offset"} }, Note,
			[]string{"glibc: lacks _dl_find_object, which came with version 2.35; gdb"}},
		{"shadow stacks", func(f *Facts) {
			f.System.ShadowStacks, f.Environment = true, []string{"GLIBC_TUNABLES=glibc.malloc.check=1:glibc.cpu.hwcaps=AVX2,SHSTK"}
		}, Note, []string{"GLIBC_TUNABLES: asks for shadow stacks"}},
		{"in a job", func(f *Facts) { f.Environment = []string{"PMI_FD=3", "PMI_RANK=1"} }, Note, []string{"PMI_FD: 3", "unset PMI_FD"}},
		{"misspelt variable", func(f *Facts) { f.Environment = []string{"TPSL_POLCY=a=b", "TPSL_POLICY=c", "TPSL_TEST_LARGE=1"} }, Warning,
			[]string{"TPSL_POLCY: is no variable of tpsl, and has no effect; did you mean TPSL_POLICY?"}},
		{"unknown variable", func(f *Facts) { f.Environment = []string{"TPSL_SPEED=1"} }, Warning,
			[]string{"TPSL_SPEED: is no variable of tpsl, and has no effect; tpsl(7) lists those that there are"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := healthy()
			c.change(&f)
			r := NewReport(f)
			require.Len(t, r.Findings, 1)
			assert.Equal(t, c.severity, r.Findings[0].Severity)
			assert.Equal(t, c.severity != Error, r.OK)
			line := r.Findings[0].String()
			assert.NotContains(t, line, "\n")
			assert.NotContains(t, line, "%!")
			for _, text := range c.says {
				assert.Contains(t, line, text)
			}
		})
	}
}

// Root may do what these limits keep from others.
func TestJudgeRoot(t *testing.T) {
	f := healthy()
	f.System.Root, f.Limits.PerfEventParanoid, f.Limits.PtraceScope = true, 4, 1
	assert.Empty(t, Judge(f))
}

// Shadow stacks are no matter where the machine has none, or where nobody asks for them, and neither are sequences that libc
// does not register.
func TestJudgeLibcIsSilent(t *testing.T) {
	for _, c := range []struct {
		machine  bool
		tunables string
	}{
		{false, "glibc.cpu.hwcaps=SHSTK"}, {true, ""}, {true, "glibc.cpu.hwcaps=-SHSTK"}, {true, "glibc.cpu.x86_shstk=off"}, {true, "glibc.malloc.check=1"},
	} {
		f := healthy()
		f.System.ShadowStacks, f.System.LibcLacks, f.Environment = c.machine, []string{"__rseq_offset"}, []string{"GLIBC_TUNABLES=" + c.tunables}
		assert.Empty(t, Judge(f), c)
	}
	assert.True(t, asksForShadowStacks("GLIBC_TUNABLES=glibc.cpu.x86_shstk=on"))
}

// An argument that is in use anyway is judged once.
func TestJudgeOnce(t *testing.T) {
	f := healthy()
	f.Libraries[0].Extra = []string{"MPIX_New"}
	again := f.Libraries[0]
	again.By = byArgument
	f.Libraries = append(f.Libraries, again)
	assert.Len(t, Judge(f), 1)
}

func TestErrorsComeFirst(t *testing.T) {
	f := healthy()
	f.Limits.Core, f.Installation.Mpiexec, f.Installation.LibtpslLacks = 0, "", 1
	var order []Severity
	for _, finding := range Judge(f) {
		order = append(order, finding.Severity)
	}
	assert.Equal(t, []Severity{Error, Warning, Note}, order)
}

// The text and the JSON document tell the same findings.
func TestTextAndJSON(t *testing.T) {
	f := healthy()
	f.Limits.Core, f.Limits.ShmFree, f.Limits.RanksByShm, f.Chosen = 0, 1<<20, 0, Chosen{Error: "no <MPI>; do & so"}
	r := NewReport(f)
	var text, document strings.Builder
	r.Print(&text, false)
	require.NoError(t, r.writeJSON(&document))
	var back Report
	require.NoError(t, json.Unmarshal([]byte(document.String()), &back))
	assert.Equal(t, r, back)
	require.Len(t, r.Findings, 3)
	_, findings, _ := strings.Cut(text.String(), "\n\nWhat would fail, and what to do\n")
	findings, _, _ = strings.Cut(findings, "\n\n")
	var lines []string
	for _, finding := range back.Findings {
		lines = append(lines, strings.TrimSpace(string(finding.Severity))+" "+finding.String())
	}
	assert.Equal(t, lines, slices.Collect(func(yield func(string) bool) {
		for line := range strings.Lines(findings) {
			severity, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if !yield(severity + " " + strings.TrimSpace(rest)) {
				return
			}
		}
	}))
}

// Names of fields are a promise: take none away.
func TestFieldNames(t *testing.T) {
	var document strings.Builder
	f := healthy()
	f.Limits.Core = 0
	require.NoError(t, NewReport(f).writeJSON(&document))
	for _, name := range []string{
		"version", "system", "limits", "libraries", "mpi_library", "private", "patterns", "installation", "environment", "findings", "ok",
		"kernel", "distribution", "glibc", "cpu", "cpus_online", "cpus_allowed", "container", "cgroup_cpu", "cgroup_memory",
		"cgroup_pids", "infiniband", "root", "max_map_count", "nofile_soft", "nofile_hard", "address_space", "memlock", "core",
		"core_pattern", "shm_size", "shm_free", "ptrace_scope", "seccomp", "perf_event_paranoid", "cross_memory",
		"ranks_by_nofile", "ranks_by_max_map_count", "ranks_by_address_space", "ranks_by_shm",
		"wanted", "by", "path", "error", "soname", "abi", "missing", "extra", "closure", "refused",
		"prefix", "libtpsl", "libtpsl_error", "libtpsl_go", "libtpsl_lacks", "package_version", "mpiexec", "mpiexec_kind",
		"tpslcc", "tpslcc_is_this", "libc_lacks", "shadow_stacks", "unmet_versions", "severity", "subject", "value", "need", "remedy",
	} {
		assert.Contains(t, document.String(), `"`+name+`": `)
	}
}
