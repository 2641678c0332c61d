// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/search"
)

// shell returns what a command prints, without the newline.
func shell(t *testing.T, command string) string {
	t.Helper()
	out, err := exec.Command("bash", "-c", command).Output()
	require.NoError(t, err, command)
	return strings.TrimSpace(string(out))
}

// kibibytes is a command that prints a limit, which ulimit has in KiB, in bytes.
func kibibytes(option string) string {
	return "n=$(ulimit " + option + "); [ $n = unlimited ] && echo $n || echo $((n*1024))"
}

// What doctor reads is what other programs say of this machine.
func TestFactsAreThoseOfTheMachine(t *testing.T) {
	testsupport.NothingLeft(t)
	f := Look("1.2.3", nil)
	assert.Equal(t, "1.2.3", f.Version)
	assert.Contains(t, f.System.Kernel, shell(t, "uname -r"))
	assert.Equal(t, shell(t, "getconf _NPROCESSORS_ONLN"), strconv.Itoa(f.System.CPUsOnline))
	assert.Equal(t, runtime.NumCPU(), f.System.CPUsAllowed)
	assert.Equal(t, os.Geteuid() == 0, f.System.Root)
	version := strings.TrimPrefix(shell(t, "getconf GNU_LIBC_VERSION"), "glibc ")
	assert.True(t, strings.HasPrefix(f.System.Glibc, version+" ("), "%q is not glibc %s", f.System.Glibc, version)

	symbols := shell(t, "readelf -W --dyn-syms $(ldconfig -p | awk '/libc.so.6 .*x86-64/ { print $NF }') /lib64/ld-linux-x86-64.so.2")
	for _, name := range optional {
		assert.Equal(t, !strings.Contains(symbols, " "+name+"@"), slices.Contains(f.System.LibcLacks, name), name)
	}

	limit := func(l Limit) string { return l.String() }
	assert.Equal(t, shell(t, "cat /proc/sys/vm/max_map_count"), limit(f.Limits.MaxMapCount))
	assert.Equal(t, shell(t, "ulimit -Sn"), limit(f.Limits.FilesSoft))
	assert.Equal(t, shell(t, "ulimit -Hn"), limit(f.Limits.FilesHard))
	assert.Equal(t, shell(t, kibibytes("-v")), limit(f.Limits.AddressSpace))
	assert.Equal(t, shell(t, kibibytes("-l")), limit(f.Limits.LockedMemory))
	assert.Equal(t, shell(t, "cat /proc/sys/kernel/core_pattern"), f.Limits.CorePattern)
	assert.Equal(t, shell(t, "df -B1 --output=size /dev/shm | tail -n 1"), limit(f.Limits.ShmSize))
	assert.Equal(t, shell(t, "awk '/^Seccomp:/ { print $2 }' /proc/self/status"), limit(f.Limits.Seccomp))
	assert.Equal(t, Limit((int64(f.Limits.MaxMapCount)-100)/70), f.Limits.RanksByMaps)
}

func TestReadMemory(t *testing.T) {
	assert.NoError(t, readMemory(os.Getpid()))
	assert.ErrorContains(t, readMemory(1<<30), "not tried")
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]Limit{
		"0": 0, "65530": 65530, "unlimited": Unlimited, "max": Unlimited, "9223372036854771712": Unlimited, "": Unknown, "-1": Unknown, "x": Unknown,
	} {
		assert.Equal(t, want, number(text), text)
	}
	assert.Equal(t, Limit(0), signed("-1\n"[:2]))
	assert.Equal(t, Limit(3), signed("3"))
	assert.Equal(t, Unknown, signed(""))
}

func TestOnline(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-3": 4, "0-3,8,10-11": 7, "": 0} {
		assert.Equal(t, want, online(list), list)
	}
}

func TestLimitOf(t *testing.T) {
	table := "Limit                     Soft Limit           Hard Limit           Units\n" +
		"Max open files            1024                 1048576              files\nMax address space         unlimited            unlimited            bytes\n"
	soft, hard := limitOf(table, "Max open files")
	assert.Equal(t, []Limit{1024, 1048576}, []Limit{soft, hard})
	soft, hard = limitOf(table, "Max address space")
	assert.Equal(t, []Limit{Unlimited, Unlimited}, []Limit{soft, hard})
	soft, hard = limitOf("", "Max open files")
	assert.Equal(t, []Limit{Unknown, Unknown}, []Limit{soft, hard})
}

// A report goes to strangers: what is not known to be harmless stays out.
func TestRelevant(t *testing.T) {
	assert.Equal(t, []string{"LD_LIBRARY_PATH=/x", "MPIR_CVAR_A=1", "PMI_FD=3", "TPSL_VERIFY=1", "UCX_TLS=tcp"}, relevant([]string{
		"UCX_TLS=tcp", "HOME=/root", "PMI_FD=3", "PMIX_SECURITY=secret", "LD_LIBRARY_PATH=/x", "LD_LIBRARY_PATHS=/x",
		"TPSL_VERIFY=1", "MPIR_CVAR_A=1", "AWS_SECRET=1", "TOKEN=TPSL_X",
	}))
	assert.Equal(t, []string{}, relevant(nil))
}

func TestPrivate(t *testing.T) {
	t.Setenv("TPSL_PRIVATE", "libmine*=open")
	p := Look("1.2.3", nil).Private
	assert.Equal(t, []string{"libmine*", "libhdf5_mpich.so.*"}, p.Patterns[:2])
	assert.NotContains(t, p.Patterns, "*", "all others are shared")
	assert.Empty(t, p.Error)

	t.Setenv("TPSL_PRIVATE", "[")
	p = Look("1.2.3", nil).Private
	assert.Contains(t, p.Error, `TPSL_PRIVATE=[: pattern "["`)
	assert.Equal(t, "libhdf5_mpich.so.*", p.Patterns[0])
}

// A version of symbols that an installed library needs and that this machine's library lacks is told of.
func TestUnmetVersions(t *testing.T) {
	testsupport.Require(t, "gcc")
	prefix := t.TempDir()
	compile := func(commands string) { shell(t, "mkdir -p "+prefix+"/lib && cd "+prefix+"/lib && "+commands) }
	const needed = `echo '%s { global: *; };' >map; echo 'int needed(void) { return 1; }' | gcc -shared -fPIC -x c - -Wl,--version-script=map -Wl,-soname,libneeded.so -o libneeded.so`
	compile(fmt.Sprintf(needed, "NEEDED_2") + ` && echo 'int needed(void); int call(void) { return needed(); }' | gcc -shared -fPIC -x c - -L. -lneeded -o libtpsl.so.0`)
	found := &finder{search: search.New(prefix + "/lib")}
	i := &Installation{Prefix: prefix}
	assert.Empty(t, i.unmet(found))
	compile(fmt.Sprintf(needed, "NEEDED_1"))
	assert.Equal(t, []string{prefix + "/lib/libtpsl.so.0: needs version NEEDED_2 of libneeded.so"}, i.unmet(found))
}

// The kinds of mpiexec that a PATH can lead to.
func TestKindOfMpiexec(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
		return path
	}
	ours := script("bin/mpiexec", "exit 9")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(ours, link))
	for path, want := range map[string]string{
		"": "", ours: kindOurs, link: kindOurs,
		script("hydra", "printf 'HYDRA build details:\\n    Version:                                 4.0.2\\n'"): "HYDRA build details 4.0.2",
		script("openmpi", "printf 'mpiexec (OpenRTE) 4.1.4\\n\\nReport bugs\\n'"):                                "mpiexec (OpenRTE) 4.1.4",
		script("broken", "exit 3"): "says no version: exit status 3",
	} {
		i := Installation{Prefix: resolved(dir), Mpiexec: path}
		assert.Equal(t, want, i.kindOfMpiexec(), path)
	}
}
