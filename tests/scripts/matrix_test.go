// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package scripts

import (
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

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Wrong usage, and what a machine lacks to make a Debian, is told in one line. The tools are fakes: no suite is made.
func TestMatrixRefusals(t *testing.T) {
	testsupport.NothingLeft(t)
	matrix := filepath.Join(testsupport.Root(t), "scripts", "matrix")
	basic := []string{"bash", "dirname", "realpath", "sed", "grep", "cat", "mkdir", "rm", "cp", "tail", "head", "flock", "env"}
	machine := func(id, debootstrap string, fakes map[string]int) string {
		dir := tools(t, basic, fakes)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "id"), []byte("#!/bin/sh\necho "+id+"\n"), 0o755))
		if debootstrap != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "debootstrap"), []byte("#!/bin/sh\n"+debootstrap), 0o755))
		}
		return dir
	}
	whole := map[string]int{"gcc": 0, "gfortran": 0, "make": 0, "go": 0, "git": 0}
	cache := t.TempDir()
	for name, c := range map[string]struct{ path, arguments, want string }{
		"option":  {machine("0", "", nil), "-fast", "matrix: -fast is no option: scripts/matrix -h lists them\n"},
		"value":   {machine("0", "", nil), "-suite", "matrix: -suite needs a value: scripts/matrix -h tells which\n"},
		"suite":   {machine("0", "", nil), "-suite sid,hamm true", "matrix: hamm is no suite of the matrix; bookworm,trixie,sid are\n"},
		"folder":  {machine("0", "", nil), "-show /nowhere/suite true", "matrix: -show /nowhere/suite: there is no such folder\n"},
		"no root": {machine("1000", "", nil), "true", "matrix: needs root, as debootstrap and chroot do: sudo scripts/matrix\n"},
		"no debootstrap": {machine("0", "", whole), "-suite sid true",
			"matrix: needs debootstrap: install it by this distribution's means\n"},
		"unreachable": {machine("0", "echo I: Retrieving; echo 'E: Failed getting release file'; exit 1", whole), "-suite sid true",
			"matrix: cannot make a Debian sid from http://deb.debian.org/debian: E: Failed getting release file; " +
				"all of debootstrap's words are in " + cache + "/tpsl/matrix/sid.log\n"},
	} {
		t.Run(name, func(t *testing.T) {
			env := []string{"PATH=" + c.path, "XDG_CACHE_HOME=" + cache}
			_, stderr, code := testsupport.Run(t, time.Minute, env, append([]string{matrix}, strings.Fields(c.arguments)...)...)
			assert.Equal(t, 1, code)
			assert.Equal(t, c.want, stderr)
		})
	}
}

// Without a Debian that is kept, -cached has nothing to do, whoever asks.
func TestMatrixCached(t *testing.T) {
	matrix, folder := filepath.Join(testsupport.Root(t), "scripts", "matrix"), t.TempDir()
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, matrix, "-cached", "-suite", "trixie,sid", "-folder", folder)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "matrix: none of trixie,sid is kept in "+folder+"\n", stdout)
}

// sourced is a bash script that has the functions of lib.sh and room.sh.
func sourced(t *testing.T, script string) string {
	return "cd " + testsupport.Root(t) + "; . scripts/lib.sh; . scripts/room.sh\n" + script
}

// room makes a folder that is like a small system: its only program is busybox, by the names of many.
func room(t *testing.T, folder string) string {
	t.Helper()
	testsupport.Require(t, "busybox", "unshare", "setpriv")
	if os.Geteuid() != 0 {
		testsupport.Unable(t, "mounts need root")
	}
	busybox, err := exec.LookPath("busybox")
	require.NoError(t, err)
	for _, name := range []string{"proc", "sys", "dev", "tmp", "bin", "usr/bin"} {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, name), 0o755))
	}
	_, stderr, code := testsupport.Run(t, time.Minute, nil, "sh", "-c", "cp "+busybox+" "+folder+"/bin/busybox && chroot "+folder+" /bin/busybox --install -s /bin")
	require.Zero(t, code, stderr)
	return folder
}

// What runs in a room has its own processes, mounts, SysV segments and, if it is to be alone, network, and an environment
// without this machine's. It writes where it may only.
func TestRoom(t *testing.T) {
	testsupport.NothingLeft(t)
	folder, mine := room(t, t.TempDir()), t.TempDir()
	inside := func(options, command string) (string, int) {
		stdout, stderr, code := testsupport.Run(t, time.Minute, []string{"SECRET=x"}, "bash", "-c", sourced(t, "in_room "+folder+" "+options+" sh -c '"+command+"'"))
		assert.Empty(t, stderr)
		return stdout, code
	}
	stdout, code := inside("-bind "+mine+" /mine -in /mine", `pwd; echo $PPID $SECRET $HOME; ls /dev/shm; echo x >file; ls /proc | grep -c "^[0-9]"; exit 7`)
	assert.Equal(t, 7, code)
	assert.Regexp(t, `^/mine\n1 /root\n[234]\n$`, stdout)
	assert.FileExists(t, filepath.Join(mine, "file"))
	stdout, code = inside("-show "+mine+" /mine -alone", `ip -o link | cut -d " " -f 2; ping -c 1 127.0.0.1 >/dev/null && echo loopback; touch /mine/x 2>/dev/null || echo read only`)
	assert.Zero(t, code)
	assert.Equal(t, "lo:\nloopback\nread only\n", stdout)

	mounts, err := os.ReadFile("/proc/self/mounts") // of all who run beside this test
	require.NoError(t, err)
	assert.NotContains(t, string(mounts), folder)
	assert.NotContains(t, string(mounts), mine)
}

// When a script that uses a room is killed, what runs in the room ends with it.
func TestRoomEndsWithItsScript(t *testing.T) {
	testsupport.NothingLeft(t)
	folder := room(t, t.TempDir())
	for signal, status := range map[string]int{"TERM": 143, "KILL": 137} {
		mark := "TPSL_TEST_ROOM=" + strconv.Itoa(os.Getpid()) + signal
		script := sourced(t, "in_room "+folder+" env "+mark+" sleep 600")
		_, stderr, code := testsupport.Run(t, time.Minute, nil, "bash", "-c",
			`bash -c "$0" & until grep -qsz "^$1$" /proc/[0-9]*/environ; do sleep 0.05; done; kill -$2 $!; wait $!`, script, mark, signal)
		assert.Equal(t, status, code, stderr)
		assert.Eventually(t, func() bool { return len(testsupport.Marked(mark)) == 0 }, 10*time.Second, 50*time.Millisecond, signal)
	}
}

// A suite that is kept runs the command on what is committed. Versions that are not those of scripts/matrix.versions fail, with
// a line for each, and so does the command.
func TestMatrixOnKeptSuite(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "git", "go")
	folder := t.TempDir()
	room(t, filepath.Join(folder, "sid"))
	versions, err := os.ReadFile(filepath.Join(testsupport.Root(t), "scripts", "matrix.versions"))
	require.NoError(t, err)
	matrix := func(change func(packages string) string, command ...string) (stdout, stderr string, code int) {
		packages := ""
		for _, m := range regexp.MustCompile(`(?m)^sid (\S+) (\S+)$`).FindAllStringSubmatch(string(versions), -1) {
			packages += m[1] + " 1:" + m[2] + ".9-1+b1\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(folder, "sid.packages"), []byte(change(packages)), 0o600))
		argv := append([]string{filepath.Join(testsupport.Root(t), "scripts", "matrix"), "-cached", "-folder", folder}, command...)
		return testsupport.Run(t, time.Minute, nil, argv...)
	}
	same := func(packages string) string { return packages }
	stdout, stderr, code := matrix(same, "sh", "-c", "pwd; ls Makefile; touch new /tmp/new")
	assert.Zero(t, code, stderr)
	assert.Regexp(t, `(?s)\nlibmpich12 +1:\S+\n.*\n/tpsl\nMakefile\n$`, stdout)
	assert.Empty(t, stderr)

	// Folders that are shown can be read, and those that are bound bring results out.
	shown, bound := filepath.Join(t.TempDir(), "sources"), filepath.Join(t.TempDir(), "results")
	require.NoError(t, os.Mkdir(shown, 0o755))
	require.NoError(t, os.Mkdir(bound, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(shown, "source"), []byte("text"), 0o600))
	_, stderr, code = matrix(same, "-show", shown, "-bind", bound, "sh", "-c", "cp /tmp/sources/source /tmp/results/result; touch /tmp/sources/new 2>/dev/null || touch /tmp/results/only-read")
	assert.Zero(t, code, stderr)
	result, err := os.ReadFile(filepath.Join(bound, "result"))
	require.NoError(t, err)
	assert.Equal(t, "text", string(result))
	assert.FileExists(t, filepath.Join(bound, "only-read"))

	_, stderr, code = matrix(same, "sh", "-c", "exit 3")
	assert.Equal(t, 1, code)
	assert.Equal(t, "matrix: sid: sh -c exit 3 failed with exit code 3\n", stderr)

	changed := func(packages string) string {
		packages = regexp.MustCompile(`libucx0 .*\n`).ReplaceAllString(packages, "")
		return regexp.MustCompile(`libmpich12 .*`).ReplaceAllString(packages, "libmpich12 9.0-1")
	}
	stdout, stderr, code = matrix(changed, "echo", "still tried")
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "still tried\n")
	assert.Regexp(t, `^matrix: sid: libmpich12 is 9\.0-1, and tpsl was tried with \S+: see what changed.*\nmatrix: sid: libucx0 is not there, and tpsl was tried with .*\n$`, stderr)

	for _, pattern := range []string{"run.*", "sid/tmp/*", "sid/tpsl/*"} {
		left, err := filepath.Glob(filepath.Join(folder, pattern))
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

// A Debian version names that of what was packaged.
func TestUpstreamVersions(t *testing.T) {
	for version, want := range map[string]string{
		"5.0.2-1": "5.0.2", "4.3.0+really4.2.1-1+b2": "4.2.1", "1:4.9+really5.0.2-1": "5.0.2", "6.0.0~rc2-1": "6.0.0", "2.36-9+deb12u10": "2.36", "4.0.2-3+b1": "4.0.2",
	} {
		stdout, stderr, code := testsupport.Run(t, time.Minute, nil, "bash", "-c",
			"eval \"$(sed -n '/^upstream()/,/^}/p' "+testsupport.Root(t)+"/scripts/matrix)\"; echo "+version+" | upstream")
		assert.Zero(t, code, stderr)
		assert.Equal(t, want+"\n", stdout)
	}
}
