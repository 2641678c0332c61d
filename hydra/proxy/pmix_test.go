// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/pmi"
)

const testSpace = "kvs"

// testHelper is a helper for rank 0 that the test plays: it writes to out and reads in.
func testHelper(t *testing.T) (p *proxy, in, out *os.File) {
	t.Helper()
	in, toHelper, err := os.Pipe()
	require.NoError(t, err)
	fromHelper, out, err := os.Pipe()
	require.NoError(t, err)
	set := plan.RankSet{Ranks: []int{0}}
	p = &proxy{windows: map[channel.Kind]*channel.Window{}, processes: []*process{newProcess(set, 0)}}
	p.host = plan.Host{World: pmi.World{Size: 1, KVSName: testSpace}, Sets: []plan.RankSet{set}}
	p.host.Stdio.From = plan.Ranks{{First: 0, Last: 0}}
	p.conn = channel.New(bytes.NewReader(nil), nopCloser{io.Discard}).Conn(0)
	p.up = newUpstream(p.conn)
	p.pmix = newPMIx()
	p.pmix.env[0] = []string{"PMIX_RANK=0"}
	p.pmix.lines, p.pmix.stdin, p.pmix.gather = bufio.NewReader(fromHelper), toHelper, pmi.NewGather(1, p.host.LocalRanks(), p.up)
	go p.servePMIx()
	limit := time.Now().Add(time.Minute)
	require.NoError(t, errors.Join(out.SetWriteDeadline(limit), in.SetReadDeadline(limit)))
	t.Cleanup(func() {
		p.pmix.close()
		assert.NoError(t, out.Close())
		p.pmix.drain()
	})
	return p, in, out
}

// A helper that says all that its ranks have to say before it listens gets every answer.
func TestHelperThatListensLate(t *testing.T) {
	const fences = 200
	_, in, out := testHelper(t)
	for id := range fences {
		_, err := fmt.Fprintf(out, "fence 0x%x %s:0 %s\n", id, testSpace, strings.Repeat("ab", 1<<10))
		require.NoError(t, err)
	}
	lines := bufio.NewScanner(in)
	for range fences {
		require.True(t, lines.Scan(), lines.Err())
		assert.Regexp(t, "^done 0x[0-9a-f]+ ok (ab)+$", lines.Text())
		assert.Greater(t, len(lines.Text()), 2<<10)
	}
}

// What a rank logs waits for who reads our stderr. What ranks do meanwhile does not.
func TestLogThatNobodyReads(t *testing.T) {
	p, in, out := testHelper(t)
	p.windows[channel.Stderr] = channel.NewWindow(0)
	_, err := fmt.Fprintf(out, "log 0x1 0 %x\nlog 0x2 0 %[1]x\nconnected 0\n", "a text\n")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.processes[0].initialized) == 1
	}, time.Minute, time.Millisecond)
	p.windows[channel.Stderr].Release(100)
	var answers []string
	for lines := bufio.NewScanner(in); len(answers) < 2 && lines.Scan(); {
		answers = append(answers, lines.Text())
	}
	assert.ElementsMatch(t, []string{"done 0x1 ok ", "done 0x2 ok "}, answers)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
