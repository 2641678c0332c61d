// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/rdma/guest"
)

// withVerbs builds something of this project with the tag verbs: arguments are those of go, in front of the package.
func withVerbs(t *testing.T, pkg string, arguments ...string) (binary string) {
	t.Helper()
	testsupport.Require(t, "gcc", "pkg-config")
	if _, _, code := testsupport.Run(t, limit, nil, "pkg-config", "--exists", "libibverbs", "ucx"); code != 0 {
		testsupport.Unable(t, "libibverbs-dev or libucx-dev is not installed")
	}
	binary = filepath.Join(t.TempDir(), filepath.Base(pkg))
	argv := append([]string{"go"}, arguments...)
	_, stderr, code := testsupport.Run(t, limit, nil, append(argv, "-tags", "verbs", "-o", binary, pkg)...)
	require.Zero(t, code, stderr)
	return binary
}

// overVerbs are the settings of jobs on the message engine that talk between hosts by the first device.
var overVerbs = []string{"TPSL_CARRIER=verbs", "TPSL_RDMA_PORT=rxe0:1"}

// engineExamples are applications on the message engine, and what they say when their answer is right. The long ones are for TPSL_TEST_LARGE=1.
var engineExamples = []struct {
	command, says string
	long          bool
}{
	{"dt -threads 1 -graph SH -class W", "4 threads, sum 186944764: as published", false},
	{"bfs -threads 1 -scale 11 -roots 4", "4 trees, of ", false},
	{"sweep -threads 1", "on 2x2 ports: the flux is that of one thread, bit for bit", false},
	{"dt -threads 1 -graph BH", "4 threads, sum 30892725: as published", true},
	{"uts -threads 1 -tree T1", "4130071 nodes, 3305118 leaves, depth 10: as published", true},
	{"bfs -threads 2 -form hybrid -model global -scale 10 -roots 2", "2 trees, of ", true},
}

// longLimit bounds jobs and tests that compute, or are many: they take minutes in a guest, more on a machine with much else to do.
const longLimit = 10 * time.Minute

// runLong runs a command in guest a to its end, with the long limit.
func runLong(t *testing.T, g *guest.Group, env []string, argv ...string) guest.Result {
	t.Helper()
	ctx, cancel := testsupport.WithLimit(context.Background(), longLimit)
	defer cancel()
	r, err := g.Run(ctx, 0, env, argv...)
	require.NoError(t, err, "%s\n%s", r.Stdout, r.Stderr)
	return r
}

// engineJob runs a job of two guests whose processes take turns, and returns how many packets of RDMA guest a has sent meanwhile by each device.
func engineJob(t *testing.T, g *guest.Group, options string, program ...string) (r guest.Result, sent []int) {
	t.Helper()
	before := packets(t, g)
	command := filepath.Join(testsupport.Build(t), "bin", "mpiexec")
	r = runLong(t, g, overVerbs, slices.Concat([]string{command, "-hosts", "a,b", "-ppn", "1"}, strings.Fields(options), program)...)
	sent = packets(t, g)
	for i := range sent {
		sent[i] -= before[i]
	}
	return r, sent
}

// The applications on the message engine give the published answers as jobs of two hosts by verbs. TPSL_TEST_LARGE=1 runs all four.
func TestEngineJobsByVerbs(t *testing.T) {
	g := guests(t, 2)
	testsupport.Limit(t, 2*longLimit)
	testsupport.NothingLeft(t)
	programs := map[string]string{}
	for _, name := range []string{"dt", "uts", "bfs", "sweep"} {
		programs[name] = withVerbs(t, "../../examples/engine/"+name, "build")
	}
	for _, e := range engineExamples {
		if e.long && !testsupport.Large() {
			continue
		}
		t.Run(e.command, func(t *testing.T) {
			words := strings.Fields(e.command)
			words[0] = programs[words[0]]
			r, sent := engineJob(t, g, "-n 4", words...)
			require.Zero(t, r.Code, "%s\n%s", r.Stdout, r.Stderr)
			assert.Equal(t, 1, strings.Count(r.Stdout, e.says), r.Stdout)
			assert.Greater(t, sent[0], 5, "packets of RDMA")
			t.Log(r.Stdout, sent)
		})
	}
}

// Active messages and one-sided operations give the right answers as jobs of two hosts by verbs. A process that is killed is
// named by all operations of the others, which go on. TPSL_TEST_LARGE=1 has threads share a port, too.
func TestEngineAccessesByVerbs(t *testing.T) {
	g := guests(t, 2)
	testsupport.Limit(t, 2*longLimit)
	testsupport.NothingLeft(t)
	program := withVerbs(t, "../e2e/testdata/accesses", "build")
	accesses := func(options string, args ...string) (guest.Result, []int) {
		t.Helper()
		return engineJob(t, g, options, append([]string{program, "-within", longLimit.String()}, args...)...)
	}
	for _, model := range []string{"private", "global"}[:testsupport.Times(1, 2)] {
		t.Run(model, func(t *testing.T) {
			r, sent := accesses("-n 2", "-ports", "2", "-model", model)
			assert.Equal(t, "4 ranks: every answer is right\n", r.Stdout, r.Stderr)
			assert.Greater(t, sent[0], 5, "packets of RDMA")
			assert.Less(t, sent[1], 5, "by the second device") // the kernel sends some
		})
	}
	t.Run("virtual rails", func(t *testing.T) { // one by each device
		r, sent := accesses("-n 2 -env TPSL_RDMA_PORT rxe0:1,rxe1:1", "-ports", "2", "-model", "private")
		assert.Equal(t, "4 ranks: every answer is right\n", r.Stdout, r.Stderr)
		assert.Greater(t, sent[0], 5, "packets of RDMA")
		assert.Greater(t, sent[1], 5, "packets of RDMA by the second device")
	})
	t.Run("killed", func(t *testing.T) {
		r, _ := accesses("-disable-auto-cleanup -n 3", "-ports", "1", "-model", "private", "-kill")
		assert.Contains(t, r.Stderr, "mpiexec: rank 2 (")
		assert.Equal(t, "rank 2 is gone, as all operations say\n2 ranks: every answer is right\n", r.Stdout, r.Stderr)
	})
}

// A job that cannot send by RDMA says so in one line, and what to do.
func TestEngineRefusedByVerbs(t *testing.T) {
	g := guests(t, 2)
	testsupport.NothingLeft(t)
	program := withVerbs(t, "../../examples/engine/dt", "build")
	for port, line := range map[string]string{
		"rxe8:1": "RDMA port rxe8:1 is not there: load its driver, or name one that is: rxe0:1, rxe1:1",
		"rxe9:1": "RDMA port rxe9:1 is down: bring its network interface up (ip link set nic9 up)",
	} {
		t.Run(port, func(t *testing.T) {
			if port == "rxe9:1" {
				for number := range 2 { // whichever says it first ends the other
					ownDevice(t, g, number)
					require.Zero(t, in(t, g, number, nil, "ip", "link", "set", "nic9", "down").Code)
				}
			}
			r := mpiexec(t, g, []string{"TPSL_CARRIER=verbs", "TPSL_RDMA_PORT=" + port}, "-hosts a,b -ppn 1 -n 2", program, "-threads", "1")
			assert.NotZero(t, r.Code)
			assert.Contains(t, r.Stderr, "start a job: "+line+"\n")
		})
	}
}

// The tests of the carrier run on a real port, none of them skipped.
func TestCarrier(t *testing.T) {
	onPort(t, "../../endpoints/engine/verbs", "", "TestAllTalkToAll")
}

// Each operation of the engine that has a test over the carriers passes it by verbs; without TPSL_TEST_LARGE=1 those of data that are put and got, and
// of messages to who is gone.
func TestEngineByVerbs(t *testing.T) {
	if !testsupport.Large() {
		onPort(t, "../../endpoints/engine", "^(TestPutAndGet|TestInvokeGone)$", "TestPutAndGet/private/table/verbs")
		return
	}
	onPort(t, "../../endpoints/engine", "^(TestFar.*|TestNearAndFar|TestActive.*|TestInvokeGone|TestCompletions.*|TestAccessGone|TestPutAndGet|TestBrokenAccesses|TestWordsAreAtomic|TestTeam.*)$", "TestFarSizes/private/table/verbs")
}

// onPort runs the tests of a package that a pattern finds in a guest, over the first device.
func onPort(t *testing.T, pkg, pattern, one string) {
	t.Helper()
	binary := withVerbs(t, pkg, "test", "-c")
	g := guests(t, 1)
	testsupport.Limit(t, longLimit+limit)
	testsupport.NothingLeft(t)
	r := runLong(t, g, []string{"TPSL_TEST_VERBS=rxe0:1"}, binary, "-test.v", "-test.run", pattern, "-test.timeout", longLimit.String())
	assert.Zero(t, r.Code, "%s\n%s", r.Stdout, r.Stderr)
	assert.Contains(t, r.Stdout, "--- PASS: "+one)
	assert.NotContains(t, r.Stdout, "--- SKIP")
}
