// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	init1 = "cmd=init pmi_version=1 pmi_subversion=1"
	init2 = "cmd=init pmi_version=2 pmi_subversion=0"
)

// Three hosts, and a rank that speaks PMI-1 among those of PMI-2: a value is found after a fence wherever it was put, and a
// key that nobody put is missing at once.
func TestFenceOverHosts(t *testing.T) {
	args := []string{"-launcher", "fork", "-hosts", "127.0.0.2:2,127.0.0.3:2,127.0.0.4:2", "-n", "5", "pmiprobe", init2,
		"cmd=fullinit;pmirank=RANK;threaded=FALSE;", "cmd=kvs-put;key=kRANK;value=v RANK=x;", "cmd=kvs-fence;"}
	for _, peer := range []string{"0", "1", "2", "3", "4", "5"} {
		args = append(args, "cmd=kvs-get;srcid=-1;key=k"+peer+";")
	}
	args = append(args, "cmd=kvs-get;key=absent;", "cmd=finalize;", ":", "-n", "1", "pmiprobe", init1, "cmd=get_my_kvsname",
		"cmd=put kvsname=KVS key=k5 value=v 5=x", "cmd=barrier_in", "cmd=get kvsname=KVS key=k0", "cmd=get kvsname=KVS key=absent", "cmd=finalize")
	j, code := runJob(t, append([]string{"-l"}, args...)...)
	require.Zero(t, code, j.errOut.String())
	for _, rank := range []string{"0", "1", "2", "3", "4"} {
		assert.Contains(t, j.out.String(), "["+rank+"] cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank="+rank+";size=6;appnum=0;")
		for _, peer := range []string{"0", "1", "2", "3", "4", "5"} {
			assert.Contains(t, j.out.String(), "["+rank+"] cmd=kvs-get-response;found=TRUE;value=v "+peer+"=x;rc=0;\n")
		}
		assert.Contains(t, j.out.String(), "["+rank+"] cmd=kvs-get-response;found=FALSE;rc=0;\n")
	}
	assert.Contains(t, j.out.String(), "[5] cmd=get_result rc=0 msg=success value=v 0=x\n")
	assert.Contains(t, j.out.String(), "[5] cmd=get_result rc=-1 msg=key_absent_not_found value=unknown\n")
}

// Ranks of a group on two hosts meet while the others do not, and then everybody sees their puts.
func TestGroupBarrierOverHosts(t *testing.T) {
	for _, extra := range [][]string{nil, {"-fanout", "1"}} { // without relays, and below one another
		groupBarrierOverHosts(t, extra)
	}
}

func groupBarrierOverHosts(t *testing.T, extra []string) {
	t.Helper()
	args := append([]string{"-l", "-launcher", "fork", "-hosts", "127.0.0.2:2,127.0.0.3:2", "-n", "4"}, extra...)
	j, code := runJob(t, append(args, "pmiprobe", init1, "cmd=get_my_kvsname",
		"cmd=put kvsname=KVS key=kRANK value=vRANK",
		"-0 cmd=barrier_in group=0,2:7", "-2 cmd=barrier_in group=0,2:7", "-0 cmd=get kvsname=KVS key=k2",
		"-1 cmd=barrier_in group=1,3:7", "-3 cmd=barrier_in group=1,3:7",
		"cmd=barrier_in group=NODE:1", "cmd=barrier_in group=WORLD:2", "cmd=get kvsname=KVS key=k3", "cmd=finalize")...)
	require.Zero(t, code, j.errOut.String())
	assert.Contains(t, j.out.String(), "[0] cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=0\n")
	assert.Contains(t, j.out.String(), "[0] cmd=get_result rc=0 msg=success value=v2\n")
	for _, rank := range []string{"0", "1", "2", "3"} {
		assert.Contains(t, j.out.String(), "["+rank+"] cmd=barrier_out tag=7\n")
		assert.Contains(t, j.out.String(), "["+rank+"] cmd=get_result rc=0 msg=success value=v3\n")
	}
}

// The trace shows each message once, the same for both ways to ask for it, and cuts long ones.
func TestPMITrace(t *testing.T) {
	long := strings.Repeat("x", 500)
	for _, option := range []string{"-pmi-trace", "-v"} {
		j, code := runJob(t, option, "-n", "2", "pmiprobe", init2, "cmd=fullinit;pmirank=RANK;", "cmd=kvs-put;key=k;value="+long+";", "cmd=finalize;")
		require.Zero(t, code, j.errOut.String())
		var trace []string
		for line := range strings.Lines(j.errOut.String()) {
			if strings.HasPrefix(line, "[rank 1]") {
				trace = append(trace, strings.TrimSuffix(line, "\n"))
			}
		}
		assert.Equal(t, []string{
			"[rank 1] -> " + init2,
			"[rank 1] <- cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0",
			"[rank 1] -> cmd=fullinit;pmirank=1;",
			"[rank 1] <- cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=1;size=2;appnum=0;debugged=FALSE;pmiverbose=FALSE;rc=0;",
			"[rank 1] -> cmd=kvs-put;key=k;value=" + long[:176] + "... (525 bytes)",
			"[rank 1] <- cmd=kvs-put-response;rc=0;",
			"[rank 1] -> cmd=finalize;",
			"[rank 1] <- cmd=finalize-response;rc=0;",
		}, trace, option)
		assert.Equal(t, option == "-v", strings.Contains(j.errOut.String(), "msg=launch"))
	}
}

// What the command line says about a job can be asked for.
func TestJobAttributes(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "cmd=universe_size size=-1\ncmd=get_result rc=-1 msg=key_PMI_mpi_memory_alloc_kinds_not_found value=unknown\n"},
		{[]string{"-usize", "12", "-memory-alloc-kinds", "mpi,system:malloc"},
			"cmd=universe_size size=12\ncmd=get_result rc=0 msg=success value=mpi,system:malloc\n"},
		{[]string{"-usize", "infinite"}, "cmd=universe_size size=-1\n"},
		{[]string{"-usize", "system", "-launcher", "fork", "-hosts", "127.0.0.2:3,127.0.0.3:4"}, "cmd=universe_size size=7\n"},
	} {
		args := slices.Concat(tt.args, []string{"-n", "1", "pmiprobe", "cmd=get_my_kvsname", "cmd=get_universe_size", "cmd=get kvsname=KVS key=PMI_mpi_memory_alloc_kinds"})
		j, code := runJob(t, args...)
		require.Zero(t, code, j.errOut.String())
		assert.Contains(t, j.out.String(), tt.want, tt.args)
	}
}

// 1,024 sessions on 64 proxies exchange values.
func TestManySessions(t *testing.T) {
	putStandIns(t)
	var hosts []string
	for i := range 64 {
		hosts = append(hosts, fmt.Sprintf("127.0.1.%d:16", i+1))
	}
	j, code := runJob(t, "-launcher", "fork", "-fanout", "8", "-hosts", strings.Join(hosts, ","), "-n", "1024", "-rpp", "16", "-tpsl", "shared", sessions(t))
	require.Zero(t, code, j.errOut.String())
	assert.Equal(t, 64, strings.Count(j.out.String(), "16 sessions from rank "))
	t.Logf("took %v", time.Since(j.started))
}
