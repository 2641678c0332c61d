// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// smallMemory makes a control group of version 2 or 1 with little memory and returns its list of processes.
func smallMemory(t *testing.T) string {
	t.Helper()
	for root, limit := range map[string]string{"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"} {
		dir := filepath.Join(root, fmt.Sprintf("tpsl_test_oom_%d", os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			require.Eventually(t, func() bool { return unix.Rmdir(dir) == nil }, patience, 10*time.Millisecond)
		})
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err == nil && os.WriteFile(filepath.Join(dir, limit), []byte("536870912"), 0) == nil {
			return filepath.Join(dir, "cgroup.procs")
		}
	}
	testsupport.Unable(t, "no control group can limit memory here")
	return ""
}

// The report tells when it was the kernel, for want of memory, that sent SIGKILL, and only then.
func TestOutOfMemory(t *testing.T) {
	members := smallMemory(t)
	greedy := `[ $PMI_RANK = 1 ] || exec sleep 60; exec awk 'BEGIN { x = "0123456789"; while (1) x = x x }'`
	j := launch(t, nil, "sh", "-c", `echo $$ >"$1"; shift; exec "$@"`, "sh", members, "mpiexec", "-n", "2", "sh", "-c", greedy)
	assert.Equal(t, 9, j.end(t))
	assert.Contains(t, j.errOut.String(), "mpiexec: rank 1 (")
	assert.Contains(t, j.errOut.String(), "; the kernel killed it at the memory limit of its cgroup\nmpiexec: ask the resource manager for more memory, or put fewer ranks on a host (-ppn)\n")

	j = launch(t, nil, "sh", "-c", `echo $$ >"$1"; shift; exec "$@"`, "sh", members, "mpiexec", "-n", "1", "sh", "-c", "kill -9 $$")
	assert.Equal(t, 9, j.end(t))
	assert.NotContains(t, j.errOut.String(), "memory")
}
