// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/greet"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// limited says that this process may lock little memory: so many KiB.
const limited = "TPSL_TEST_VERBS_LIMITED"

// Where a process may lock too little memory, the error says what to raise: when it joins, and when a buffer is too large.
func TestLittleMemory(t *testing.T) {
	testsupport.NothingLeft(t)
	open(t).Close()
	testsupport.Require(t, "setpriv")
	for kib, test := range map[string]string{"8192": "join", "40960": "buffer"} {
		cmd := exec.Command("sh", "-c", `ulimit -l "$2" && exec setpriv --bounding-set=-ipc_lock "$1" -test.v -test.run '^TestWithLittleMemory$/'"$3"`,
			"sh", os.Args[0], kib, test)
		cmd.Env = append(os.Environ(), limited+"="+kib)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "--- PASS: TestWithLittleMemory/"+test)
	}
}

func TestWithLittleMemory(t *testing.T) {
	if os.Getenv(limited) == "" {
		return // TestLittleMemory runs it
	}
	t.Run("join", func(t *testing.T) {
		l, err := greet.Listen("127.0.0.1:0")
		require.NoError(t, err)
		peers := []Peer{{First: 0, Ports: 1, Address: l.Addr().String()}, {First: 1, Ports: 1, Address: "127.0.0.1:1"}}
		_, err = Join(l, []Rail{{open(t), AnyNode}}, Options{Peers: peers})
		require.ErrorContains(t, err, "join a node by RDMA port rxe0:1: a process may lock 8192 KiB of memory, but needs ")
		require.ErrorContains(t, err, " KiB to talk to 1 others: raise it: ulimit -l unlimited (in limits.conf, or LimitMEMLOCK of sshd's or slurmd's unit)")
		assert.ErrorIs(t, l.Close(), net.ErrClosed)
	})
	t.Run("buffer", func(t *testing.T) {
		nodes := joined(t, Options{}, 1, 1)
		a, b := nodes[0].port(0), nodes[1].port(1)
		mustSend(t, a, 1, 3, nil, 0)
		assert.EqualValues(t, 3, carriertest.Await(t, b).Cell.Tag)
		outcome, err := a.Send(1, 0, 0, make([]byte, 64<<20), 0)
		assert.Equal(t, carrier.Full, outcome)
		carriertest.IsGone(t, err, `^rank 1 is gone: this process cannot talk to it by RDMA port rxe0:1: register 0x.* \(67108864 bytes\) .*: raise ulimit -l$`)
		for e := carriertest.Await(t, b); e.Kind != carrier.Gone; e = carriertest.Await(t, b) {
		}
	})
}

// A port that is not there, is down, or cannot be opened is one line that says what to do.
func TestChoose(t *testing.T) {
	open(t).Close()
	_, err := Choose("rxe7:1")
	assert.EqualError(t, err, "RDMA port rxe7:1 is not there: load its driver, or name one that is: rxe0:1, rxe1:1")
	require.NoError(t, exec.Command("ip", "link", "set", "eth1", "down").Run())
	_, err = Choose("rxe1:1")
	assert.NoError(t, exec.Command("ip", "link", "set", "eth1", "up").Run())
	assert.EqualError(t, err, "RDMA port rxe1:1 is down: bring its network interface up (ip link set eth1 up)")
	nic, err := Choose("")
	require.NoError(t, err)
	assert.Equal(t, "rxe0:1", nic.Name)
}
