// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const limit = time.Minute

// run runs a program that must succeed in silence, and returns what it printed.
func run(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	stdout, stderr, code := testsupport.Run(t, limit, env, argv...)
	require.Zero(t, code, "%v\nstdout:\n%s\nstderr:\n%s", argv, stdout, stderr)
	require.Empty(t, stderr, argv)
	return stdout
}

// runMake runs make on what testsupport.Build has built, and returns what it printed.
func runMake(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := testsupport.Run(t, 5*time.Minute, nil, append([]string{"make", "-s", "-o", "all", "-C", testsupport.Build(t)}, args...)...)
	require.Zero(t, code, "make %v\nstdout:\n%s\nstderr:\n%s", args, stdout, stderr)
	return stdout
}

// installed returns a new prefix with all that make install puts there.
func installed(t *testing.T) string {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "tpsl")
	runMake(t, "install", "PREFIX="+prefix)
	return prefix
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func makeVersion(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, nil, "sed", "-n", "s/^VERSION = //p", testsupport.Root(t)+"/Makefile"))
}

// tree describes everything below a folder: path, mode, and where a link leads.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		link, _ := os.Readlink(path)
		all = append(all, fmt.Sprintf("%s %v %s", strings.TrimPrefix(path, root), info.Mode(), link))
		return nil
	}))
	return all
}

func TestUninstallRemovesWhatInstallPut(t *testing.T) {
	testsupport.NothingLeft(t)
	destdir := filepath.Join(t.TempDir(), "stage")
	for _, folder := range []string{"usr/local/include", "usr/local/bin"} {
		require.NoError(t, os.MkdirAll(filepath.Join(destdir, folder), 0o755))
	}
	writeFile(t, filepath.Join(destdir, "usr/local/bin/other"), "")
	before := tree(t, destdir)

	for _, prefix := range []string{"/usr/local", "/opt/a/b/tpsl"} {
		to := []string{"DESTDIR=" + destdir, "PREFIX=" + prefix}
		runMake(t, append(to, "install")...)
		once := tree(t, destdir)
		assert.Greater(t, len(once), len(before)+20)
		runMake(t, append(to, "install")...)
		assert.Equal(t, once, tree(t, destdir), "installed again")
		runMake(t, append(to, "uninstall")...)
		assert.Equal(t, before, tree(t, destdir), prefix)
	}
}

// A prefix may be written with more slashes than it takes, and is one from the root.
func TestPrefixSpelling(t *testing.T) {
	testsupport.NothingLeft(t)
	prefix := installed(t)
	before := tree(t, prefix)
	odd := filepath.Dir(prefix) + "//" + filepath.Base(prefix) + "//"
	runMake(t, "install", "PREFIX="+odd)
	assert.Equal(t, before, tree(t, prefix))
	runMake(t, "uninstall", "PREFIX="+prefix)
	assert.NoDirExists(t, prefix)
	runMake(t, "install", "PREFIX="+odd)
	assert.Equal(t, before, tree(t, prefix))

	for _, goal := range []string{"install", "uninstall"} {
		_, stderr, code := testsupport.Run(t, limit, nil, "make", "-s", "-o", "all", "-C", testsupport.Root(t), goal, "PREFIX=some/folder")
		assert.Equal(t, 2, code)
		assert.Contains(t, stderr, "place: PREFIX=some/folder is not absolute: name the folder from / on\n")
		assert.Equal(t, 2, strings.Count(stderr, "\n"), stderr) // and make's own
	}
}

// make says what it did, and how to go on from there.
func TestInstallSaysWhatItDid(t *testing.T) {
	testsupport.NothingLeft(t)
	prefix, destdir := filepath.Join(t.TempDir(), "tpsl"), t.TempDir()
	said := runMake(t, "install", "PREFIX="+prefix)
	placed, err := os.ReadFile(prefix + "/share/tpsl/placed")
	require.NoError(t, err)
	files := 0
	for path := range strings.Lines(string(placed)) {
		info, err := os.Lstat(strings.TrimSuffix(path, "\n"))
		require.NoError(t, err)
		if !info.IsDir() && info.Name() != "placed" {
			files++
		}
	}
	installed := fmt.Sprintf("installed %d files in %s\n", files, prefix)
	assert.Equal(t, installed+
		"To use them: PATH="+prefix+"/bin:$PATH\n"+
		"or:          module use "+prefix+"/share/modulefiles; module load tpsl\n"+
		"To look for what would fail on this machine: "+prefix+"/bin/tpsl doctor\n", said)
	removed := "removed the installation in " + prefix + "\n"
	assert.True(t, strings.HasPrefix(runMake(t, "install", "PREFIX="+prefix), removed+installed), "over another one")
	assert.Equal(t, removed, runMake(t, "uninstall", "PREFIX="+prefix))
	assert.Equal(t, "nothing to remove: "+prefix+"/share/tpsl/placed is not there\n", runMake(t, "uninstall", "PREFIX="+prefix))
	assert.Equal(t, fmt.Sprintf("installed %d files in %s/opt/tpsl\n", files, destdir), runMake(t, "install", "DESTDIR="+destdir),
		"what is staged is not to be used there")
}

// What a site has put into a folder of the installation stays.
func TestUninstallLeavesWhatOthersPut(t *testing.T) {
	prefix := installed(t)
	writeFile(t, prefix+"/share/tpsl/site.policy", "")
	runMake(t, "uninstall", "PREFIX="+prefix)
	assert.Equal(t, []string{" drwxr-xr-x ", "/share drwxr-xr-x ", "/share/tpsl drwxr-xr-x ", "/share/tpsl/site.policy -rw-r--r-- "}, tree(t, prefix))
}

// An installation is for all users, whatever the umask of who installs. What a
// newer version lacks goes.
func TestInstallOverAnother(t *testing.T) {
	testsupport.NothingLeft(t)
	dir := testsupport.Build(t)
	to := filepath.Join(t.TempDir(), "opt", "tpsl")
	place := func(files ...string) {
		script := "umask 077; cd " + dir + "; scripts/place '' " + to + " " + strings.Join(files, " ")
		run(t, nil, "bash", "-c", script)
	}
	place("bin/mpiexec", "bin/tpslcxx", "include/tpsl.h", "lib/libtpsl.so.0")
	place("bin/mpiexec", "bin/tpslcxx", "lib/libtpsl.so.0", "lib/tpsl/host", "lib/tpsl/libmpi.so.12")
	assert.Equal(t, []string{
		" drwxr-xr-x ", "/bin drwxr-xr-x ", "/bin/mpiexec -rwxr-xr-x ", "/bin/tpslcxx Lrwxrwxrwx tpslcc",
		"/lib drwxr-xr-x ", "/lib/libtpsl.so.0 -rw-r--r-- ",
		"/lib/tpsl drwxr-xr-x ", "/lib/tpsl/host -rwxr-xr-x ", "/lib/tpsl/libmpi.so.12 -rw-r--r-- ",
		"/share drwxr-xr-x ", "/share/tpsl drwxr-xr-x ", "/share/tpsl/placed -rw-r--r-- ",
	}, tree(t, to))
}

// make install as root, which may have no go, takes what a user has built; what is
// installed already stays if nothing is.
func TestInstallWithoutGo(t *testing.T) {
	prefix := installed(t)
	before := tree(t, prefix)
	runMake(t, "install", "PREFIX="+prefix, "GO=nosuchgo")
	assert.Equal(t, before, tree(t, prefix))

	copied := t.TempDir()
	run(t, nil, "cp", "-r", testsupport.Root(t)+"/Makefile", testsupport.Root(t)+"/scripts", testsupport.Root(t)+"/include", copied)
	require.NoError(t, os.Mkdir(copied+"/share", 0o755))
	_, stderr, code := testsupport.Run(t, limit, nil, "make", "-s", "-C", copied, "install", "PREFIX="+prefix, "GO=nosuchgo")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "place: bin/mpiexec is not there: run make first\n")
	assert.Equal(t, before, tree(t, prefix))
}

// Two who build the same tree, or one who measures while tests run, are not in
// each other's way.
func TestMakesAtOnce(t *testing.T) {
	testsupport.NothingLeft(t)
	const script = `makes=()
for i in {1..4}; do
	make -s &
	makes+=($!)
done
status=0
for pid in "${makes[@]}"; do wait "$pid" || status=1; done
exit $status`
	t.Chdir(testsupport.Build(t))
	_, stderr, code := testsupport.Run(t, 5*time.Minute, nil, "bash", "-c", script)
	assert.Zero(t, code, stderr)
}

// Nothing in the installed tree says where it was installed, so it can be moved.
func TestMovedPrefix(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "pkg-config")
	old := installed(t)
	prefix := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.Rename(old, prefix))
	_ = filepath.WalkDir(prefix, func(path string, entry fs.DirEntry, _ error) error {
		if entry.Type().IsRegular() && path != filepath.Join(prefix, "share/tpsl/placed") {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.NotContains(t, string(content), old, path)
			assert.NotContains(t, string(content), testsupport.Root(t), path)
		}
		return nil
	})

	hello := testsupport.Root(t) + "/examples/hello.c"
	program := filepath.Join(t.TempDir(), "hello")
	run(t, nil, prefix+"/bin/tpslcc", "-fopenmp", hello, "-o", program)
	job := run(t, nil, prefix+"/bin/mpiexec", "-n", "4", "-rpp", "2", program)
	assert.Equal(t, 4, strings.Count(job, "\n"), job)

	const python = "/usr/bin/python3" // which needs the host of private programs, and a program in its place
	testsupport.Require(t, python)
	assert.Equal(t, "[2]\n[2]\n", run(t, nil, prefix+"/bin/mpiexec", "-n", "2", "-rpp", "2", python, "-c", "print([1 + 1])"))

	env := []string{"PKG_CONFIG_PATH=" + prefix + "/lib/pkgconfig"}
	flags := strings.Fields(run(t, env, "pkg-config", "--cflags", "--libs", "tpsl"))
	assert.Contains(t, flags, "-I"+prefix+"/lib/pkgconfig/../../include")
	run(t, nil, slices.Concat([]string{"gcc", "-fopenmp", hello, "-o", program}, flags)...)
	run(t, []string{"LD_LIBRARY_PATH=" + prefix + "/lib"}, prefix+"/bin/mpiexec", "-n", "2", "-rpp", "2", program)

	flags = strings.Fields(run(t, env, "pkg-config", "--cflags", "--libs", "tpslmsg"))
	run(t, nil, slices.Concat([]string{"gcc", "-pthread", testsupport.Root(t) + "/examples/farm.c", "-o", program}, flags)...)
	job = run(t, []string{"LD_LIBRARY_PATH=" + prefix + "/lib"}, prefix+"/bin/mpiexec", "-n", "2", program, "1")
	assert.Contains(t, job, "by 2 ranks: right\n")
}

// A program that was linked before the tree was moved does not start, and starts again in the ways that install.md tells.
func TestProgramsOfMovedPrefix(t *testing.T) {
	testsupport.NothingLeft(t)
	old := installed(t)
	program := filepath.Join(t.TempDir(), "hello")
	run(t, nil, old+"/bin/tpslcc", "-fopenmp", testsupport.Root(t)+"/examples/hello.c", "-o", program)
	prefix := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.Rename(old, prefix))

	_, stderr, code := testsupport.Run(t, limit, nil, program)
	assert.Equal(t, 127, code)
	assert.Contains(t, stderr, "error while loading shared libraries: libtpsl.so.0: cannot open shared object file")
	job := []string{prefix + "/bin/mpiexec", "-n", "4", "-rpp", "2", program}
	_, stderr, code = testsupport.Run(t, limit, nil, job...)
	assert.NotZero(t, code)
	assert.Contains(t, stderr, "libtpsl.so.0")

	named := slices.Insert(slices.Clone(job), 1, "-genv", "LD_LIBRARY_PATH", prefix+"/lib:"+prefix+"/lib/tpsl")
	assert.Equal(t, 4, strings.Count(run(t, nil, named...), "\n"))
	require.NoError(t, os.Symlink(prefix, old))
	assert.Equal(t, 4, strings.Count(run(t, nil, job...), "\n"))
}

// mpiexec and tpsl tell their version when asked for it. The wrappers do with -v,
// as mpicc does; their --version is the compiler's, which build systems look for.
func TestVersions(t *testing.T) {
	bin := testsupport.Build(t) + "/bin/"
	version := makeVersion(t)
	for _, option := range []string{"-version", "--version", "-info"} {
		assert.Regexp(t, `(?m)^    Version: +`+regexp.QuoteMeta(version)+` \(tpsl\)$`, run(t, nil, bin+"mpiexec", option))
	}
	assert.Equal(t, "tpsl "+version+"\n", run(t, nil, bin+"tpsl", "--version"))
	for wrapper, compiler := range map[string]string{"tpslcc": "gcc", "tpslcxx": "g++", "tpslfort": "gfortran"} {
		stdout, stderr, code := testsupport.Run(t, limit, nil, bin+wrapper, "-v")
		assert.Zero(t, code, wrapper)
		assert.Equal(t, wrapper+" for tpsl version "+version+"\n", stdout)
		assert.Contains(t, stderr, "\ngcc version ", wrapper)
		for _, option := range []string{"--version", "-dumpversion", "-dumpmachine"} {
			assert.Equal(t, run(t, nil, compiler, option), run(t, nil, bin+wrapper, option))
		}
	}
}
