// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const (
	noPort   = "RDMA port none0:1 is not there; "
	allowTCP = ", or allow TCP: UCX_TLS=rc,self,tcp and a network interface in UCX_NET_DEVICES\n"
)

// assertOneLine holds a refusal against what a user is to see: one line, and nothing of UCX or MPICH.
func assertOneLine(t *testing.T, o outcome, hosts, name string) {
	t.Helper()
	assert.Equal(t, 255, o.code, name)
	assert.Empty(t, o.stdout, name)
	assert.Equal(t, 1, strings.Count(o.stderr, "\n"), "%s: %s", name, o.stderr)
	assert.Regexp(t, "^mpiexec: host ("+hosts+"): "+noPort, o.stderr, name)
	assert.True(t, strings.HasSuffix(o.stderr, allowTCP), "%s: %s", name, o.stderr)
}

// Ranks that ask for a device which the host has not are not started where they would have no way to each other.
func TestNoRDMADevice(t *testing.T) {
	threads, plain := example(t, "hello"), flat(t, "../../examples/halo.c")
	testsupport.NothingLeft(t)
	asks := []string{"UCX_TLS=rc,self", "UCX_NET_DEVICES=none0:1"}
	for name, options := range map[string]string{"processes": "-n 2 " + plain, "threads": "-n 2 -rpp 2 " + threads, "private": "-n 2 -rpp 2 " + plain} {
		assertOneLine(t, mpiexec(t, asks, options), ".*", name)
	}
	o := mpiexec(t, nil, "-n 2 -genv UCX_TLS rc,self -genv UCX_NET_DEVICES none0:1 "+plain)
	assertOneLine(t, o, ".*", "by option")

	// Other programs take no notice of the variables. Of a script nobody knows until it fails.
	assert.Equal(t, outcome{stdout: "still here\n"}, mpiexec(t, asks, "-n 1 -ppn 1", "echo", "still here"))
	o = mpiexec(t, append(asks, "MPIR_CVAR_NOLOCAL=1"), "-n 2", "sh", "-c", plain)
	assert.NotZero(t, o.code)
	assert.Regexp(t, "\nmpiexec: host .*: "+noPort+".*\n$", o.stderr)
	assert.Equal(t, 1, strings.Count(o.stderr, noPort), o.stderr)
}

// Where TCP is allowed, or shared memory is enough, the job runs and says by what.
func TestWithoutRDMADevice(t *testing.T) {
	far := fixture(t, "far")
	testsupport.NothingLeft(t)
	for way, env := range map[string][]string{
		"TCP":           {"UCX_TLS=rc,tcp,self", "UCX_NET_DEVICES=none0:1,lo", "MPIR_CVAR_NOLOCAL=1"},
		"shared memory": {"UCX_TLS=rc,sm,self", "UCX_NET_DEVICES=none0:1"},
	} {
		o := mpiexec(t, env, "-n 4 -rpp 2", far)
		assert.Zero(t, o.code, o.stderr)
		assert.Contains(t, o.stdout, "far: 4 ranks, 0 wrong\n")
		assert.Regexp(t, "^mpiexec: host .*: "+noPort+"ranks use "+way+"; to mend it, load its driver.*\n", o.stderr)
	}
}

// Of two hosts without the device, one tells.
func TestNoRDMADeviceOnHosts(t *testing.T) {
	plain := flat(t, "../../examples/halo.c")
	testsupport.NothingLeft(t)
	hosts := testsupport.Hosts(t, "a", "b")
	command := hosts[0].Inside("env", "UCX_TLS=rc,self", "UCX_NET_DEVICES=none0:1", built(t, "bin/mpiexec"), "-hosts", "a,b", "-n", "2", plain)
	assertOneLine(t, run(t, nil, command...), "a|b", "two hosts")
}
