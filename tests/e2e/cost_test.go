// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/pagetables"
)

// Modules of UCX for RDMA devices are loaded where the host has one, or the user names them.
func TestModulesOfDevicesThatAreThere(t *testing.T) {
	testsupport.NothingLeft(t)
	_, err := os.Stat("/sys/class/infiniband")
	for _, c := range []struct {
		mode, program, setting string
		want                   bool
	}{
		{"shared", fixture(t, "rest"), "", err == nil},
		{"private", restingProcess(t), "", err == nil},
		{"shared", fixture(t, "rest"), "all", true},
	} {
		p, _ := restingWith(t, []string{"UCX_MODULES=" + c.setting}, c.mode, c.program)
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.PID))
		require.NoError(t, err)
		assert.Contains(t, string(maps), "/libuct_cma.so")
		assert.Equal(t, c.want, strings.Contains(string(maps), "/libuct_ib.so"), "%s, UCX_MODULES=%s", c.mode, c.setting)
	}
}

// cost returns what a job has of anonymous memory and page tables.
func cost(t *testing.T, job *background) (bytes float64) {
	t.Helper()
	all, errs := pagetables.Proc("/proc").Job([]int{job.Process.Pid})
	assert.Empty(t, errs)
	for _, p := range all {
		bytes += float64(p.Total.Anonymous + p.Tables)
	}
	return bytes
}

// A thread rank more costs little more than half of what a process more does: README, docs/memory.md. What the start
// took of the Go runtime is given back in the background.
func TestRankCostsLessThanProcess(t *testing.T) {
	testsupport.NothingLeft(t)
	thread, process := fixture(t, "rest"), restingProcess(t)
	threads := []*background{resting(t, thread, 2, "-rpp", "2"), resting(t, thread, 6, "-rpp", "6")}
	processes := []*background{resting(t, process, 2), resting(t, process, 6)}
	each := func(jobs []*background) float64 { return (cost(t, jobs[1]) - cost(t, jobs[0])) / 4 }
	ofProcess := each(processes)
	assert.Eventually(t, func() bool {
		ofThread := each(threads)
		t.Logf("each rank more: %.0f kB as a thread, %.0f as a process, ratio %.2f", ofThread/1024, ofProcess/1024, ofThread/ofProcess)
		return ofThread < 0.65*ofProcess
	}, limit/2, 200*time.Millisecond) // on a busy machine the background has to wait
}
