// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// railHosts starts two hosts that two links join: eth0 and eth1. UCX finds them in /sys.
func railHosts(t *testing.T) []testsupport.Host {
	t.Helper()
	hosts := testsupport.Hosts(t, "a", "b")
	run(t, nil, "nsenter", "-n", "-t", strconv.Itoa(hosts[0].PID), "ip", "link", "add", "eth1", "type", "veth", "peer", "name", "eth1",
		"netns", strconv.Itoa(hosts[1].PID)).succeeded(t)
	for i, host := range hosts {
		run(t, nil, host.Inside("sh", "-c", fmt.Sprintf("ip addr add 10.79.0.%d/24 dev eth1 && ip link set eth1 up && mount -t sysfs none /sys", i+1))...).succeeded(t)
	}
	for _, host := range hosts { // the kernel says so up to a second later
		run(t, nil, host.Inside("sh", "-c", "for link in eth0 eth1; do until grep -qx up /sys/class/net/$link/operstate; do sleep 0.02; done; done")...).succeeded(t)
	}
	return hosts
}

func TestNICs(t *testing.T) {
	testsupport.NothingLeft(t)
	host := railHosts(t)[0]
	var listed struct {
		NICs []struct {
			Name, Kind, State string
			RDMA              bool
			Addresses         []string
		}
		Rails []struct{ NIC string }
	}
	require.NoError(t, json.Unmarshal([]byte(run(t, nil, host.Inside(built(t, "bin/tpsl"), "nic", "-json", "-n", "3", "-rpp", "2")...).succeeded(t).stdout), &listed))
	assert.Equal(t, []struct{ NIC string }{{"eth0"}, {"eth1"}, {"eth0"}}, listed.Rails, "as mpiexec -nics near below")
	for _, nic := range listed.NICs {
		switch nic.Name {
		case "lo":
			assert.Equal(t, "loopback", nic.Kind)
		case "eth0", "eth1":
			assert.Equal(t, "veth up", nic.Kind+" "+nic.State)
			assert.Contains(t, []string{"10.78.0.1/24", "10.79.0.1/24"}, nic.Addresses[0])
		default:
			t.Errorf("unknown %+v", nic)
		}
	}
	assert.Len(t, listed.NICs, 3)
	table := run(t, nil, host.Inside(built(t, "bin/tpsl"), "nic")...).succeeded(t)
	assert.Regexp(t, `(?m)^eth1 +veth +up +10 +- +[0-9,-]+ +- +10\.79\.0\.1/24`, table.stdout)

	assert.Equal(t, 255, run(t, nil, built(t, "bin/tpsl"), "nic", "eth0").code)

	// Ranks get one each; the user's own stays, also for one rank of a process.
	show := []string{"-n", "3", "-rpp", "2", "-tpsl", "shared", "sh", "-c", "echo $PMI_RANK $TPSL_ENV$UCX_NET_DEVICES"}
	for option, want := range map[string][]string{
		"-nics=near":                            {"0,1 UCX_NET_DEVICES=eth0;UCX_NET_DEVICES=eth1\n", "2 eth0\n"},
		"-nics=none":                            {"0,1\n", "2\n"},
		"-nics=near -genv UCX_NET_DEVICES=eth1": {"0,1 eth1\n", "2 eth1\n"},
	} {
		argv := slices.Concat([]string{built(t, "bin/mpiexec")}, strings.Fields(option), show)
		assert.Equal(t, want, run(t, nil, host.Inside(argv...)...).succeeded(t).lines(), option)
	}

	// Ranks that are programs of their own find theirs as any program does.
	private := run(t, nil, host.Inside(built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", "-nics", "near",
		testsupport.CC(t, "mpicc.mpich", "testdata/devices.c"))...).succeeded(t)
	assert.Equal(t, []string{"0 eth0\n", "1 eth1\n"}, private.lines())
}

// Ranks of one process drive different rails: what one sends goes over its link and no other.
func TestRailsOfThreadRanks(t *testing.T) {
	testsupport.NothingLeft(t)
	hosts := railHosts(t)
	program := fixture(t, "rail")
	for pair, rail := range []string{"eth0", "eth1"} {
		before := sent(t, hosts[0])
		job := run(t, nil, hosts[0].Inside(built(t, "bin/mpiexec"), "-hosts", "a:2,b:2", "-n", "4", "-rpp", "2", "-nics", "near",
			"-genv", "UCX_TLS", "tcp,self", program, strconv.Itoa(pair))...)
		require.Zero(t, job.code, job.stderr)
		require.Equal(t, "sent\n", job.stdout)
		for link, bytes := range sent(t, hosts[0]) {
			megabytes := (bytes - before[link]) >> 20
			if link == rail {
				assert.GreaterOrEqual(t, megabytes, 16, "rank %d by %s", pair, link)
			} else {
				assert.Less(t, megabytes, 4, "rank %d by %s", pair, link)
			}
		}
	}
}

// sent returns the bytes that have left a host by each of its rails.
func sent(t *testing.T, host testsupport.Host) map[string]int {
	t.Helper()
	var links []struct {
		Name  string                           `json:"ifname"`
		Stats struct{ TX struct{ Bytes int } } `json:"stats64"`
	}
	require.NoError(t, json.Unmarshal([]byte(run(t, nil, host.Inside("ip", "-s", "-j", "link")...).succeeded(t).stdout), &links))
	bytes := map[string]int{}
	for _, link := range links {
		if link.Name != "lo" {
			bytes[link.Name] = link.Stats.TX.Bytes
		}
	}
	require.Len(t, bytes, 2)
	return bytes
}
