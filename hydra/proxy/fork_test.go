// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// A set that cannot start in the control group leaves the sets alone that run there.
func TestSetOutsideTheGroup(t *testing.T) {
	group := procs.NewGroup(fmt.Sprintf("proxy_test_%d", os.Getpid()))
	if group == nil || os.Geteuid() != 0 {
		testsupport.Unable(t, "who is not root, or can make no control group, cannot be refused one")
	}
	defer group.Remove()
	runtime.LockOSThread() // this thread starts the sets, and must outlive them
	defer runtime.UnlockOSThread()
	p := &proxy{group: group, byPID: map[int]*process{}}
	sleep := start{path: "/bin/sleep", args: []string{"sleep", "60"}}
	begin := func(rank int) (*process, error) {
		proc := newProcess(plan.RankSet{Ranks: []int{rank}}, rank)
		return proc, p.fork(proc, sleep, &descriptors.Set{})
	}
	first, err := begin(0)
	require.NoError(t, err)
	defer func() {
		_ = unix.Kill(first.pid, unix.SIGKILL)
		_, _ = unix.Wait4(first.pid, nil, 0, nil)
	}()

	const nobody = 65534
	_, err = unix.SetfsuidRetUid(nobody) // who may not write to the group's files
	require.NoError(t, err)
	_, err = begin(1)
	_, restored := unix.SetfsuidRetUid(0)
	require.NoError(t, restored)
	assert.ErrorIs(t, err, unix.EACCES)
	assert.Same(t, group, p.group, "its removal would kill the first set")
}
