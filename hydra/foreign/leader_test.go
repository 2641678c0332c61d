// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/proxy/hardware"
	"github.com/tpsl/tpsl/internal/topology"
)

// A CPU that the machine does not have stands for a CPU that a cgroup withholds.
func TestBoundCPUs(t *testing.T) {
	const far = 5000
	allowed, err := hardware.AllowedCPUs()
	require.NoError(t, err)
	mine := allowed[0]
	bound := func(cpus ...int) *part { return &part{donation: donation{CPUs: cpus}} }
	m := &Member{Rank: 1}
	assert.Nil(t, m.boundCPUs([]*part{bound(mine), bound(mine)}))
	assert.Equal(t, []topology.Set{{mine}, {mine}}, m.boundCPUs([]*part{bound(mine), bound(mine, far)}))
	assert.Nil(t, m.boundCPUs([]*part{bound(mine), bound(far)}), "rank 2 has none")
}

func TestEnviron(t *testing.T) {
	env := []string{"PATH=/bin", "PMI_PORT=h:1", "PMI_JOBID=1.0", "SLURM_PROCID=2", "CUDA_VISIBLE_DEVICES=0", "UCX_NET_DEVICES=a b", "TPSL_ENV=old"}
	own := settingsOf(env)
	assert.Equal(t, []string{"SLURM_PROCID=2", "CUDA_VISIBLE_DEVICES=0"}, own)
	parts := []*part{{donation: donation{Env: own}}, {donation: donation{Env: []string{"SLURM_PROCID=3"}}}}
	kept := []string{"PATH=/bin", "PMI_JOBID=1.0", "SLURM_PROCID=2", "CUDA_VISIBLE_DEVICES=0", "UCX_NET_DEVICES=a b"}
	shared := "MPIR_CVAR_SHM_SYMHEAP_RETRY=0"
	assert.Equal(t, slices.Concat(kept, []string{"TPSL_ENV=SLURM_PROCID=2 CUDA_VISIBLE_DEVICES=0;SLURM_PROCID=3", shared}), environ(env, parts))
	assert.Equal(t, append(kept, shared), environ(env, parts[:1]))
}

// The other members of a set that cannot run have ended before the launcher hears of an abort.
func TestAbortComesLast(t *testing.T) {
	pair := func() (ours, theirs *os.File) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	}
	ours, donor := pair()
	conn, err := net.FileConn(ours)
	require.NoError(t, err)
	ours.Close()
	session, launcher := pair()
	defer launcher.Close()
	m := &Member{session: int(session.Fd()), parts: []*part{{}, {conn: conn.(*net.UnixConn)}, nil}}
	over := make(chan struct{})
	go func() {
		defer close(over)
		m.Abort(9)
	}()
	reply := make([]byte, maxMessage)
	n, err := donor.Read(reply)
	require.NoError(t, err)
	assert.Equal(t, failed, string(reply[:n]))
	require.NoError(t, unix.SetNonblock(int(launcher.Fd()), true))
	for range 20 {
		_, err := unix.Read(int(launcher.Fd()), reply)
		require.ErrorIs(t, err, unix.EAGAIN, "the donor lives")
		time.Sleep(time.Millisecond)
	}
	donor.Close()
	require.NoError(t, unix.SetNonblock(int(launcher.Fd()), false))
	n, err = unix.Read(int(launcher.Fd()), reply)
	require.NoError(t, err)
	assert.Contains(t, string(reply[:n]), "cmd=init")
	launcher.Close()
	<-over
}
