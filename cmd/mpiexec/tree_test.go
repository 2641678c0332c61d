// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// tree is seven hosts on this machine: mpiexec starts a and d; a starts b and c, d starts e and f, f starts g.
var tree = strings.Fields("mpiexec -launcher fork -fanout 2 -hosts a,b,c,d,e,f,g")

func launchTree(t *testing.T, args ...string) *job {
	t.Helper()
	return launch(t, strings.NewReader("from stdin\n"), slices.Concat(tree, args)...)
}

// proxies lists the job's proxies, each with its parent.
func (j *job) proxies() map[int]int {
	parents := map[int]int{}
	for _, pid := range j.processes() {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); bytes.Contains(line, []byte("\x00+proxy\x00")) {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(f) > 1 { // proc(5): state, parent
				parents[pid], _ = strconv.Atoi(string(f[1]))
			}
		}
	}
	return parents
}

// relays lists the job's proxies that have started proxies, those at the top first.
func (j *job) relays() (found []int) {
	parents := j.proxies()
	for _, parent := range parents {
		if parents[parent] == j.Process.Pid {
			found = append(found, parent)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// What a job does does not depend on the way to its hosts.
func TestTree(t *testing.T) {
	testsupport.NothingLeft(t)
	j := launchTree(t, "-l", "sh", "-c", `[ $PMI_RANK = 0 ] && cat; echo $MPI_LOCALRANKID; exit $PMI_RANK`)
	assert.Equal(t, 7, j.end(t))
	lines := slices.Sorted(strings.Lines(j.out.String()))
	assert.Equal(t, "[0] 0\n[0] from stdin\n[1] 0\n[2] 0\n[3] 0\n[4] 0\n[5] 0\n[6] 0\n", strings.Join(lines, ""))
	assert.Empty(t, j.errOut.String())
}

// Barriers with everybody's puts go up and down the tree, and a signal reaches all.
func TestTreeMPI(t *testing.T) {
	testsupport.NothingLeft(t)
	j := launchTree(t, "-n", "7", probe(t))
	assert.Zero(t, j.end(t), j.errOut.String())
	j = launchTree(t, "-n", "7", "sleep", "60")
	j.awaitSleepers(t)
	require.NoError(t, unix.Kill(j.Process.Pid, unix.SIGTERM))
	assert.Equal(t, 15, j.end(t))
}

func (j *job) awaitSleepers(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		ranks := 0
		for _, pid := range j.processes() {
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); string(line) == "sleep\x0060\x00" {
				ranks++
			}
		}
		return ranks == 7
	}, patience, 5*time.Millisecond)
}

// A relay that dies takes those below with it, and they are named.
func TestKillRelay(t *testing.T) {
	testsupport.NothingLeft(t)
	j := launchTree(t, "sleep", "60")
	j.awaitSleepers(t)
	relays := j.relays()
	require.Len(t, relays, 2)
	require.NoError(t, unix.Kill(relays[1], unix.SIGKILL))
	assert.Equal(t, 255, j.end(t))
	assert.Regexp(t, `^mpiexec: proxy on (a died \(signal: killed\); ranks 0-2 lost, on a, b, c`+
		`|d died \(signal: killed\); ranks 3-6 lost, on d, e, f, g)\n$`, j.errOut.String())
}

// Whatever dies in the tree, all ends.
func TestKillInTree(t *testing.T) {
	testsupport.NothingLeft(t)
	for i := range 8 {
		j := launchTree(t, "sleep", "60")
		if i%2 == 0 {
			j.awaitSleepers(t)
		} else {
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
		}
		if pids := j.processes(); len(pids) > 0 {
			_ = unix.Kill(pids[(i*5)%len(pids)], unix.SIGKILL) // it may have ended meanwhile
		}
		j.end(t)
	}
}

// A host in the tree that cannot run the program ends the job with its own words.
func TestTreeFails(t *testing.T) {
	testsupport.NothingLeft(t)
	j := launchTree(t, "./nosuchprogram")
	assert.Equal(t, 255, j.end(t))
	assert.Regexp(t, `^mpiexec: cannot run ./nosuchprogram on [a-g]: `, j.errOut.String())
}
