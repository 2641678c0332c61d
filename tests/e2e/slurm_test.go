// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Inside an allocation nothing has to be said: the proxies start by one srun.
func TestInsideSlurm(t *testing.T) {
	testsupport.NothingLeft(t)
	slurm := testsupport.Slurm(t, 3, 2)
	host := []testsupport.Host{{Namespace: slurm}}
	allocated := func(args ...string) []string {
		return slurm.Inside(slices.Concat([]string{"salloc", "-Q", "-N", "3", built(t, "bin/mpiexec")}, args)...)
	}
	inside := func(args ...string) outcome { return run(t, nil, allocated(args...)...) }

	t.Run("hosts", func(t *testing.T) {
		show := "echo $PMI_RANK $PMI_HOSTNAME $MPI_LOCALNRANKS $SLURMD_NODENAME; exit $PMI_RANK"
		out := inside("-n", "5", "-ppn", "2", "sh", "-c", show)
		assert.Equal(t, "0 n1 2 n1\n1 n1 2 n1\n2 n2 2 n2\n3 n2 2 n2\n4 n3 1 n3\n", strings.Join(out.lines(), ""))
		assert.Equal(t, 7, out.code)
		assert.Empty(t, out.stderr)
	})
	t.Run("sets", func(t *testing.T) {
		out := inside("-n", "3", "-ppn", "2", "-rpp", "2", fixture(t, "far"))
		assert.Equal(t, "far: 3 ranks, 0 wrong\n", out.stdout)
		assert.Zero(t, out.code, out.stderr)
	})
	t.Run("much to say", func(t *testing.T) {
		argv := allocated("-n", "3", "-l", "sh", "-c", "[ $PMI_RANK = 0 ] && cat || seq 100000")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdin = strings.NewReader(strings.Repeat("from stdin\n", 50000))
		var said bytes.Buffer
		cmd.Stderr = &said
		text, err := cmd.Output()
		require.NoError(t, err, said.String())
		for prefix, want := range map[string]int{"[0] from stdin\n": 50000, "[1] ": 100000, "[2] ": 100000} {
			assert.Equal(t, want, bytes.Count(text, []byte(prefix)), prefix)
		}
	})
	t.Run("no such node", func(t *testing.T) {
		out := inside("-hosts", "n1,n9", "hostname")
		assert.Equal(t, 255, out.code)
		assert.Regexp(t, `^mpiexec: host n[19]: srun: .*Requested node configuration is not available \(srun ended with 1\)\n$`, out.stderr)
	})
	for what, pattern := range map[string]string{"proxy": `^\S*mpiexec \+proxy lines$`, "srun": "^srun ", "mpiexec": `^\S*mpiexec -n`} {
		t.Run("kill "+what, func(t *testing.T) {
			argv := allocated("-n", "3", "sleep", "3600")
			r := &running{Cmd: exec.Command(argv[0], argv[1:]...), hosts: host}
			r.Stderr, r.WaitDelay = &r.errOut, 5*time.Second
			require.NoError(t, r.Start())
			r.await(t, 3, "^sleep 3600")
			all := guests(host, pattern)
			victims := slices.DeleteFunc(slices.Clone(all), func(pid int) bool { return slices.Contains(all, parent(pid)) }) // srun has a child, which it does not miss
			require.NotEmpty(t, victims)
			require.NoError(t, unix.Kill(victims[0], unix.SIGKILL))
			timer := time.AfterFunc(40*time.Second, func() { _ = r.Process.Kill() })
			_ = r.Wait()
			assert.True(t, timer.Stop(), "the job does not end")
			require.Eventually(t, func() bool { return len(guests(host, "^sleep 3600|mpiexec|^srun")) == 0 }, 20*time.Second, 20*time.Millisecond)
			if what != "mpiexec" {
				assert.Equal(t, 255, r.ProcessState.ExitCode())
				assert.Regexp(t, `mpiexec: proxy on n[1-3] died \(.*srun`, r.errOut.String())
			}
		})
	}
}
