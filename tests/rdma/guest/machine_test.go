// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// broken starts a machine whose first program is a script that brings nothing up.
func broken(t testing.TB, dir, script string) *machine {
	t.Helper()
	testsupport.Require(t, "qemu-system-x86_64", "busybox", "xz", "apt-get", "dpkg")
	k, err := findKernel(t.Context())
	require.NoError(t, err)
	busybox, err := staticBusybox()
	require.NoError(t, err)
	var a archive
	a.add("bin", folderMode, nil)
	a.add("bin/busybox", fileMode, busybox)
	a.add("init", fileMode, []byte("#!/bin/busybox sh\n"+script))
	a.end()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "initramfs"), a.Bytes(), 0o666))
	m, err := startMachine(machineOptions{kernel: k.image(), dir: dir, rails: 1, cpus: 1})
	require.NoError(t, err)
	return m
}

func TestNotUp(t *testing.T) {
	testsupport.NothingLeft(t)
	for name, c := range map[string]struct {
		script, want string
		limit        time.Duration
	}{
		"panic": {"exit 1", `(?s)^guest a is gone \(qemu: exit status 0\); its console: Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100$`, startLimit},
		"slow":  {"exec /bin/busybox sleep 1000", "^guest a: too late; its console is empty$", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			m := broken(t, t.TempDir(), c.script)
			g := Group{machines: []*machine{m}}
			t.Cleanup(func() { assert.NoError(t, g.Stop()) })
			ctx, cancel := context.WithTimeoutCause(t.Context(), c.limit, errors.New("too late"))
			defer cancel()
			err := m.await(ctx)
			require.Error(t, err)
			assert.Regexp(t, c.want, err.Error())
		})
	}
}

// QEMU ends with the process that started it, however that ends.
func TestOrphan(t *testing.T) {
	if dir := os.Getenv("TPSL_TEST_ORPHAN"); dir != "" {
		fmt.Println(broken(t, dir, "exec /bin/busybox sleep 1000").cmd.Process.Pid)
		time.Sleep(limit)
		return
	}
	testsupport.Require(t, "qemu-system-x86_64", "busybox", "xz", "apt-get", "dpkg")
	testsupport.NothingLeft(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestOrphan$")
	cmd.Env = append(os.Environ(), "TPSL_TEST_ORPHAN="+t.TempDir())
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	pid, err := strconv.Atoi(line[:max(0, len(line)-1)])
	require.NoError(t, err, line)
	require.Eventually(t, func() bool { return testsupport.CommandLine(pid) == "" || unix.Kill(pid, 0) != nil }, limit, 10*time.Millisecond, "QEMU lives on")
}

// What is not installed is named, with what to install.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	_, err := startMachine(machineOptions{dir: dir})
	assert.EqualError(t, err, `exec: "qemu-system-x86_64": executable file not found in $PATH: install Debian's package qemu-system-x86`)
	_, err = staticBusybox()
	assert.EqualError(t, err, `exec: "busybox": executable file not found in $PATH: install Debian's package busybox-static`)
	require.NoError(t, os.Symlink("/bin/true", filepath.Join(dir, "busybox")))
	_, err = staticBusybox()
	assert.ErrorContains(t, err, `busybox needs libraries ["libc.so.6"]: install Debian's package busybox-static`)
	_, err = Start(t.Context(), Options{Guests: 3})
	assert.EqualError(t, err, "start guests: 3 guests of 0 rails and 0 NUMA nodes: there may be 2 of 2 and 2")
}
