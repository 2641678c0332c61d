// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
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

// leaver is a program that has made shared memory, as MPI libraries do, and not removed it yet. It prints the segment's
// number and then does as it is told.
func leaver() {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "leaver:", err)
		os.Exit(1)
	}
	if os.Args[1] != "leave" {
		if f, err := os.CreateTemp("/dev/shm", "mpich_shar_tmp"); err == nil {
			f.Close()
		}
	}
	fmt.Println(id)
	switch os.Args[1] {
	case "die":
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	case "stay":
		time.Sleep(limit)
	}
}

func segmentExists(t *testing.T, id int) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/sysvipc/shm")
	require.NoError(t, err)
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == fmt.Sprint(id) {
			return true
		}
	}
	return false
}

// mpiexec hears of the last process's end when the proxy has nothing left to kill.
func TestLastProcessDies(t *testing.T) {
	testsupport.NothingLeft(t)
	for script, want := range map[string]int{
		"exec leaver die":                    9,
		"leaver stay & sleep 0.1; exit 3":    3,
		"(leaver leave &) ; exec leaver die": 9,
		"echo cmd=init pmi_version=1 pmi_subversion=1 >&3; read reply <&3; exec leaver stop": 0, // no MPI_Finalize
	} {
		_, code := runJob(t, "-n", "1", "bash", "-c", script)
		assert.Equal(t, want, code, script)
	}
}

// In a tree the ranks of a proxy that is killed come to the relay above it. What they left is removed there, even if mpiexec is gone.
// The proxies of a relay that is killed remove what their own ranks left.
func TestProxyInTreeDies(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, killed := range []string{"proxies", "proxies and mpiexec", "relays"} {
		r, w := pipe(t)
		j := launchTo(t, nil, w, slices.Concat(tree, []string{"leaver", "stay"})...)
		newCollector(r).await(t, "\n", 7)

		relays := j.relays()
		require.Len(t, relays, 2)
		var proxies []int
		for pid, parent := range j.proxies() {
			if slices.Contains(relays, parent) {
				proxies = append(proxies, pid)
			}
		}
		require.Len(t, proxies, 6)
		for _, pid := range append(relays, proxies...) {
			stop(t, pid) // who is to be killed must not see another one die
		}
		victims := proxies
		switch killed {
		case "relays":
			victims = relays
		case "proxies and mpiexec":
			victims = append(victims, j.Process.Pid)
		}
		for _, pid := range victims {
			require.NoError(t, unix.Kill(pid, unix.SIGKILL))
		}
		for _, pid := range append(relays, proxies...) {
			_ = unix.Kill(pid, unix.SIGCONT)
		}
		j.end(t)
	}
}

// The end of a job removes what its processes left, and nothing that other programs of the user made meanwhile.
func TestOthersSegmentsStay(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, killed := range []string{"rank", "proxy"} {
		t.Run(killed, func(t *testing.T) {
			r, w := pipe(t)
			j := launchTo(t, nil, w, "mpiexec", "-n", "2", "sh", "-c", "leaver stay & exec leaver stay")
			newCollector(r).await(t, "\n", 4)

			text, err := exec.Command("leaver", "leave").Output()
			require.NoError(t, err)
			var id int
			_, err = fmt.Sscan(string(text), &id)
			require.NoError(t, err)
			t.Cleanup(func() {
				_, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil)
				assert.NoError(t, err)
			})

			proxy, ranks := j.family()
			if killed == "rank" {
				proxy = ranks[1]
			}
			require.NoError(t, unix.Kill(proxy, unix.SIGKILL))
			j.end(t)
			assert.True(t, segmentExists(t, id))
		})
	}
}
