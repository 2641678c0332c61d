// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/rdma/guest"
)

// waysToFree are those of testdata/ways.h.
var waysToFree = []string{
	"free", "free that trims the heap", "realloc", "munmap", "mremap that moves", "mremap that shrinks",
	"madvise", "mmap over live memory", "sbrk", "shmdt",
}

// Of the coherence program: messages of a rank in a round, and the rounds in which each way has had its turn.
const messagesOfRound, allWays = 17, 88

// coherenceLimit bounds a run of it, which takes a minute, more on a machine with much else to do.
const coherenceLimit = 5 * time.Minute

// registering are the settings by which a page is sent, and a block is read, from and into the program's own memory.
func registering(more ...string) []string {
	return append(verbs("UCX_ZCOPY_THRESH=4096", "UCX_RNDV_THRESH=16384"), more...)
}

// coherence runs the program on one processor of a guest, as others take part in each unmap, which is dear in emulation.
func coherence(t *testing.T, within time.Duration, env []string, options string, rounds int) guest.Result {
	t.Helper()
	program := testsupport.CC(t, "tpslcc", "testdata/coherence.c", "-O2", "-pthread")
	g := guests(t, 1)
	testsupport.Limit(t, within+limit)
	testsupport.NothingLeft(t)
	command := fmt.Sprintf("exec taskset -c 0 %s/bin/mpiexec %s %s %d 1 copy", testsupport.Build(t), options, program, rounds)
	ctx, cancel := testsupport.WithLimit(context.Background(), within)
	defer cancel()
	r, err := g.Run(ctx, 0, env, "sh", "-c", command)
	require.NoError(t, err, "%s\n%s", r.Stdout, r.Stderr)
	return r
}

// No rank sends or receives by a registration of memory that was given back since, whoever gave it back, and how. All
// ranks have a registration cache: without, there is no way to register. TPSL_TEST_LARGE=1 asks for 10^5 messages.
func TestCoherence(t *testing.T) {
	messages, within := 20_000, coherenceLimit
	if testsupport.Large() {
		messages, within = 100_000, 25*time.Minute
	}
	const ranks = 2
	rounds := messages/(ranks*messagesOfRound)*11/10 + 1 // some addresses are new
	r := coherence(t, within, registering("UCX_IB_REG_METHODS=rcache"), "-n 2 -rpp 2", rounds)
	require.Zero(t, r.Code, "%s\n%s", r.Stdout, r.Stderr)
	var sent, again, wrong int
	_, err := fmt.Sscanf(r.Stdout, "coherence: seed 1, 2 ranks: %d messages, %d from addresses used before, %d wrong\n", &sent, &again, &wrong)
	require.NoError(t, err, r.Stdout)
	t.Log(r.Stdout)
	assert.Equal(t, rounds*ranks*messagesOfRound, sent)
	assert.GreaterOrEqual(t, again, messages)
	assert.Zero(t, wrong)
}

// With a libucm for each rank, the one that came last hears of memory, and the others' caches are stale: the same program
// finds out, for each way to give memory back, at the sender and at the receiver. As both ranks start they write hooks into
// libc's text, and each tries whether its own work. If they do so at the same time, a rank may crash, or both may do without a
// cache. Such a start shows nothing, so there is another.
func TestCoherenceNeedsOneLibucm(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy")
	require.NoError(t, os.WriteFile(policy, []byte("libucm.so.* private\nlibucm_* private\n"), 0o600))
	var r guest.Result
	for start := 0; start < 5 && r.Code != 1; start++ {
		t.Run(fmt.Sprintf("start %d", start), func(t *testing.T) {
			r = coherence(t, coherenceLimit, registering("TPSL_POLICY="+policy), "-n 2 -rpp 2", allWays)
			t.Log(r.Stdout, r.Stderr)
		})
	}
	require.Equal(t, 1, r.Code)
	for _, way := range waysToFree {
		assert.Contains(t, r.Stdout, "("+way+")")
	}
	assert.Regexp(t, `page \d+ is what rank \d had in page \d+ in round \d+`, r.Stdout)
	assert.Regexp(t, `page \d+ has not come`, r.Stdout)
}
