// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/rdma/guest"
)

// pair compiles a program of two ranks, as processes and as threads.
func pair(t *testing.T, name string) (flat, threads string) {
	return testsupport.CC(t, "mpicc.mpich", "testdata/"+name+".c", "-O2"),
		"-rpp 2 " + testsupport.CC(t, "tpslcc", "testdata/"+name+".c", "-O2", "-fopenmp")
}

// Device rxe9 on link nic9 is a test's own, so that others find theirs as it was.
const (
	plugIn = "ip link add nic9 type dummy && ip addr add 10.99.0.1/24 dev nic9 && ip link set nic9 up && rdma link add rxe9 type rxe netdev nic9\n"
	// And rxe9 with it, a moment later.
	plugOut = "[ ! -e /sys/class/net/nic9 ] || ip link delete nic9\nwhile [ -e /sys/class/infiniband/rxe9 ]; do sleep 0.1; done\n"
)

func ownDevice(t *testing.T, g *guest.Group, number int) {
	t.Helper()
	r := in(t, g, number, nil, "sh", "-c", plugOut+plugIn)
	require.Zero(t, r.Code, r.Stderr)
	t.Cleanup(func() { in(t, g, number, nil, "sh", "-c", plugOut) })
}

// The user of device rxe9 alone.
func ownVerbs(more ...string) []string {
	return verbs(append([]string{"UCX_TLS=rc,self", "UCX_NET_DEVICES=rxe9:1"}, more...)...)
}

const allowTCP = ", or allow TCP: UCX_TLS=rc,self,tcp and a network interface in UCX_NET_DEVICES\n"

// Each refusal is a single line, with nothing from UCX or MPICH.
func TestRefused(t *testing.T) {
	flat, threads := pair(t, "lost")
	g := guests(t, 1)
	testsupport.NothingLeft(t)
	ownDevice(t, g, 0)
	const file = "/dev/infiniband/uverbs2"
	refused := func(name, before, after, program, line string, env ...string) {
		script := before + " " + testsupport.Build(t) + "/bin/mpiexec -n 2 " + program + " send\ncode=$?\n" + after + "\nexit $code\n"
		r := in(t, g, 0, ownVerbs(env...), "sh", "-c", script)
		assert.Equal(t, 255, r.Code, name)
		assert.Equal(t, "mpiexec: host a: "+line+allowTCP, r.Stderr, name)
		assert.Empty(t, r.Stdout, name)
	}
	refused("no device", "", "", threads, "RDMA port rxe8:1 is not there; load its driver, or name one that is: rxe0:1, rxe1:1, rxe9:1",
		"UCX_NET_DEVICES=rxe8:1")
	refused("port down", "ip link set nic9 down\n", "ip link set nic9 up", flat,
		"RDMA port rxe9:1 is down; bring its network interface up (ip link set nic9 up)")
	refused("no permission", "chmod 0 "+file+"\nsetpriv --bounding-set=-dac_override", "chmod 666 "+file, threads,
		file+" of RDMA device rxe9 cannot be opened: permission denied; let all read and write it (chmod a+rw), as rdma-core's udev rules do")
	for program, need := range map[string]string{flat: "51 MiB for a rank", threads: "102 MiB for its 2 ranks"} {
		refused("little memory", "ulimit -l 8192\nsetpriv --bounding-set=-ipc_lock", "", program,
			"a process may lock 8 MiB of memory, but with RDMA device rxe9 it needs "+need+
				"; raise it: ulimit -l unlimited (in limits.conf, or LimitMEMLOCK of sshd's or slurmd's unit)")
	}
}

// Where TCP is allowed the job runs over it, and says so. The limit is enough for a rank, and not for two in a process.
func TestFallsBackToTCP(t *testing.T) {
	_, threads := pair(t, "lost")
	g := guests(t, 1)
	testsupport.NothingLeft(t)
	ownDevice(t, g, 0)
	script := "ulimit -l 60000\nexec setpriv --bounding-set=-ipc_lock " + testsupport.Build(t) + "/bin/mpiexec -n 2 " + threads + " end\n"
	r := in(t, g, 0, ownVerbs("UCX_TLS=rc,tcp,self", "UCX_NET_DEVICES=rxe9:1,lo"), "sh", "-c", script)
	assert.Zero(t, r.Code, r.Stderr)
	assert.Contains(t, r.Stdout, "talking\n") // and, maybe, what UCX says of settings for RDMA that nobody reads
	assert.True(t, strings.HasPrefix(r.Stderr, "mpiexec: host a: a process may lock 58 MiB of memory, but with RDMA device rxe9 it needs 102 MiB for its 2 ranks; "+
		"ranks use TCP; to mend it, raise it"), r.Stderr)
}

// lose starts two ranks, and does something to their device when they have talked to each other. Short queues are made sooner.
func lose(t *testing.T, g *guest.Group, program, what string) guest.Result {
	t.Helper()
	ownDevice(t, g, 0)
	script := fmt.Sprintf("cd $(mktemp -d)\nmkfifo out\n%s/bin/mpiexec -n 2 %s >out &\nexec 3<out\nread -r line <&3\n%s\nwait $!\n",
		testsupport.Build(t), program, what)
	return in(t, g, 0, ownVerbs("UCX_RC_RX_QUEUE_LEN=128", "UCX_UD_RX_QUEUE_LEN=128"), "sh", "-c", script)
}

// A rank that sends is ended by UCX, at length. The last line says why.
func TestPortDownWhileSending(t *testing.T) {
	_, threads := pair(t, "lost")
	g := guests(t, 1)
	testsupport.NothingLeft(t)
	r := lose(t, g, threads+" send", "ip link set nic9 down")
	assert.NotZero(t, r.Code)
	line := "mpiexec: host a: RDMA port rxe9:1 is down; ranks that send by it fail; to mend it, bring its network interface up (ip link set nic9 up)\n"
	assert.True(t, strings.HasSuffix(r.Stderr, "\n"+line), r.Stderr)
	assert.Equal(t, 1, strings.Count(r.Stderr, line), r.Stderr)
}

// Ranks that only wait are told nothing by UCX: mpiexec ends the job.
func TestDeviceGoneWhileWaiting(t *testing.T) {
	flat, _ := pair(t, "lost")
	g := guests(t, 1)
	testsupport.NothingLeft(t)
	r := lose(t, g, flat+" wait", "ip link delete nic9")
	assert.Equal(t, 255, r.Code)
	assert.Equal(t, "mpiexec: host a: RDMA port rxe9:1 is gone; connections by it are lost; to mend it, load its driver, or name one that is: rxe0:1, rxe1:1\n", r.Stderr)
}
