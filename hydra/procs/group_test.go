// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package procs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCgroupDir(t *testing.T) {
	const (
		v2     = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		hybrid = "31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" +
			"32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
			"33 30 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		docker = "33 30 0:29 /docker/12ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
	)
	for _, row := range []struct{ name, membership, mounts, controller, want string }{
		{"version 2", "0::/user.slice/a.scope\n", v2, "", "/sys/fs/cgroup/user.slice/a.scope"},
		{"no version 1", "0::/user.slice/a.scope\n", v2, "memory", ""},
		{"both", "4:memory:/job\n0::/\n", hybrid, "", "/sys/fs/cgroup/unified"},
		{"version 1 of both", "4:memory:/job\n0::/\n", hybrid, "memory", "/sys/fs/cgroup/memory/job"},
		{"two controllers", "4:cpu,cpuacct:/x:y\n", hybrid, "cpuacct", "/sys/fs/cgroup/cpu,cpuacct/x:y"},
		{"part of a hierarchy", "4:memory:/docker/12ab/c\n", docker, "memory", "/sys/fs/cgroup/memory/c"},
		{"other part", "4:memory:/docker/34cd\n", docker, "memory", ""},
		{"none", "", "", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, cgroupDir(row.membership, row.mounts, row.controller))
		})
	}
}

func TestCoreGlob(t *testing.T) {
	for _, row := range []struct {
		pattern string
		usesPID bool
		want    string
	}{
		{"core", false, "core"},
		{"core", true, "core.42"},
		{"core.%p", true, "core.42"},
		{"/var/cores/%e-%p-%t%%", false, "/var/cores/*-42-*%"},
		{"a*[b]%", false, `a\*\[b]`},
		{"|/usr/lib/systemd/systemd-coredump %P", false, ""},
		{"@/run/coredump.socket", false, ""},
		{"", true, ""},
	} {
		assert.Equal(t, row.want, coreGlob(row.pattern, row.usesPID, 42), row.pattern)
	}
}

// testGroup makes a group for this test's processes.
func testGroup(t *testing.T) *Group {
	t.Helper()
	g := NewGroup(fmt.Sprintf("test_%d", os.Getpid()))
	if g == nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no control group of version 2 can be made here")
		}
		t.Skip("no control group of version 2 can be made here")
	}
	return g
}

func inGroup(t *testing.T, g *Group, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = new(syscall.SysProcAttr)
	g.Attributes(cmd.SysProcAttr)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() })
	return cmd
}

// A group ends its processes, also those in sessions of their own, and is then removed.
func TestGroup(t *testing.T) {
	g := testGroup(t)
	cmd := inGroup(t, g, "setsid sleep 60 & exec sleep 60")
	members := func() string { text, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs")); return string(text) }
	require.Eventually(t, func() bool { return len(members()) > len(fmt.Sprintln(cmd.Process.Pid)) }, patience, time.Millisecond)
	require.NoError(t, g.Keep())
	g.Close()
	g.Remove()
	assert.NoDirExists(t, g.dir)
	assert.ErrorIs(t, syscall.Kill(g.keeper, 0), syscall.ESRCH)
}

// The keeper does the same when the end of the pipe shows that no other process can do it.
func TestKeeper(t *testing.T) {
	g := testGroup(t)
	inGroup(t, g, "exec sleep 60")
	require.NoError(t, g.Keep())
	_ = syscall.Close(g.folder)
	g.pipe.Close()
	require.Eventually(t, func() bool { _, err := os.Stat(g.dir); return os.IsNotExist(err) }, patience, time.Millisecond)
	_, err := syscall.Wait4(g.keeper, nil, 0, nil)
	assert.NoError(t, err)
}

// Another process of the same control group can remove the group, and the folder beside it. To remove what does not exist does
// nothing.
func TestRemoveLeft(t *testing.T) {
	g := testGroup(t)
	inGroup(t, g, "exec sleep 60")
	key := strings.TrimPrefix(filepath.Base(g.dir), groupPrefix)
	t.Setenv("TMPDIR", t.TempDir())
	folder := PMIxFolder(key)
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "full"), 0o700))
	for range 2 {
		RemoveLeft([]string{key, "none"}, Now(), nil)
		assert.NoDirExists(t, g.dir)
		assert.NoDirExists(t, folder)
	}
	_ = syscall.Close(g.folder)
}

// The next job removes the groups that killed jobs have left. It keeps groups that are in use or young.
func TestRemoveStale(t *testing.T) {
	g := testGroup(t)
	defer func() { g.Close(); g.Remove() }()
	own := filepath.Dir(g.dir)
	old := time.Now().Add(-2 * staleAfter)
	empty := filepath.Join(own, fmt.Sprintf("tpsl_test_empty_%d", os.Getpid()))
	young := filepath.Join(own, fmt.Sprintf("tpsl_test_young_%d", os.Getpid()))
	require.NoError(t, os.Mkdir(empty, 0o755))
	require.NoError(t, os.Mkdir(young, 0o755))
	defer os.Remove(young)
	cmd := inGroup(t, g, "exec sleep 60")
	defer func() { _ = cmd.Process.Kill() }()
	require.NoError(t, os.Chtimes(empty, old, old))
	require.NoError(t, os.Chtimes(g.dir, old, old))
	require.NoError(t, g.Keep())
	assert.NoDirExists(t, empty)
	assert.DirExists(t, young)
	assert.DirExists(t, g.dir)
}

func TestNoGroup(t *testing.T) {
	assert.Nil(t, NewGroup("no/such/parent"))
	var none *Group
	none.Attributes(new(syscall.SysProcAttr))
	assert.NoError(t, none.Keep())
	none.Close()
	none.Remove()
}
