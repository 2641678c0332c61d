// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/rdma/guest"
)

// layouts are where two processes of two thread ranks run, and the options that put them there.
var layouts = map[string]struct {
	guests  int
	options string
}{
	"inside one":  {1, "-n 4 -rpp 2"},
	"between two": {2, "-hosts a,b -ppn 2 -n 4 -rpp 2"},
}

// What thread ranks do in shared memory, they do over verbs: the halo exchange, with the same answer; collectives, a ring and
// unmappings that all instances hear of.
func TestPrograms(t *testing.T) {
	halo, ranks := example(t, "halo"), fixture(t, "ranks")
	near, stderr, code := testsupport.Run(t, limit, nil, testsupport.Build(t)+"/bin/mpiexec", "-n", "4", "-rpp", "2", halo)
	require.Zero(t, code, stderr)
	require.Contains(t, near, "verified\n")
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			g := guests(t, layout.guests)
			testsupport.NothingLeft(t)
			run := func(program string) string {
				r := mpiexec(t, g, verbs("UCX_LOG_LEVEL=info"), layout.options, program)
				require.Zero(t, r.Code, "%s\n%s", r.Stdout, r.Stderr)
				assert.Empty(t, offVerbs(r.Stdout, 4), r.Stdout)
				return logged.ReplaceAllString(r.Stdout, "")
			}
			assert.Equal(t, near, run(halo))
			assert.Equal(t, "ranks: 4 ranks right\n", run(ranks))
		})
	}
}

// logged is what UCX says, on stdout.
var logged = regexp.MustCompile(`(?m)^\[.* UCX  INFO .*\n`)

// offVerbs returns what in UCX's words says that a rank does not talk over reliable connections, or to another over anything else.
func offVerbs(stdout string, ranks int) (wrong []string) {
	for _, c := range guest.Connections(stdout) {
		if c.Number == 0 {
			ranks--
		}
		other := slices.ContainsFunc(c.Lanes, func(lane string) bool { return lane != "rc_verbs/rxe0:1" && lane != "self/memory0" })
		if other || !slices.Contains(c.Lanes, "rc_verbs/rxe0:1") {
			wrong = append(wrong, fmt.Sprint(c))
		}
	}
	if ranks != 0 {
		wrong = append(wrong, fmt.Sprintf("%d ranks have not said what they chose", ranks))
	}
	return wrong
}

func TestOffVerbs(t *testing.T) {
	const head = "[1795303002.34 [a:192  :0]      ucp_worker.c:1763 UCX  INFO    ep_cfg[%d]: tag(%s) rma(self/memory0)\n"
	rc := fmt.Sprintf(head, 0, "rc_verbs/rxe0:1") + fmt.Sprintf(head, 1, "self/memory0 rc_verbs/rxe0:1")
	assert.Empty(t, offVerbs(rc+rc, 2))
	assert.Len(t, offVerbs(rc, 2), 1)
	for _, lanes := range []string{"self/memory0", "tcp/eth0", "rc_verbs/rxe0:1 tcp/eth0", "ud_verbs/rxe0:1", "rc_verbs/rxe1:1", "sysv/memory"} {
		assert.Len(t, offVerbs(fmt.Sprintf(head, 0, lanes), 1), 1, lanes)
	}
}

// fixture compiles a program of the tests of whole jobs, whose threads are ranks.
func fixture(t testing.TB, name string) string {
	t.Helper()
	return testsupport.CC(t, "tpslcc", "../e2e/testdata/"+name+".c", "-fopenmp", "-O2")
}
