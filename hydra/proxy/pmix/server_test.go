// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmix

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

// told is what the helper has told of rank 0.
type told struct {
	Events  // those that no test makes happen
	logged  func(text []byte)
	arrived chan struct{} // closed when the rank has connected
}

func (t told) Logged(_ int, text []byte) { t.logged(text) }
func (t told) Initialized(int)           { close(t.arrived) }

// testHelper is a helper for rank 0 that the test plays: it writes to out and reads in.
func testHelper(t *testing.T, events Events) (in, out *os.File) {
	t.Helper()
	in, toHelper, err := os.Pipe()
	require.NoError(t, err)
	fromHelper, out, err := os.Pipe()
	require.NoError(t, err)
	host := plan.Host{World: pmi.World{Size: 1, KVSName: testSpace}, Sets: []plan.RankSet{{Ranks: []int{0}}}}
	conn := channel.New(bytes.NewReader(nil), nopCloser{io.Discard}).Conn(0)
	s := newServer(host, conn, nil, events)
	s.env[0] = []string{"PMIX_RANK=0"}
	s.lines, s.stdin = bufio.NewReader(fromHelper), toHelper
	go s.Serve()
	limit := time.Now().Add(time.Minute)
	require.NoError(t, errors.Join(out.SetWriteDeadline(limit), in.SetReadDeadline(limit)))
	t.Cleanup(func() {
		s.Close()
		assert.NoError(t, out.Close())
		s.Drain()
	})
	return in, out
}

// A helper that sends all requests of its ranks before it reads still gets every answer.
func TestHelperThatListensLate(t *testing.T) {
	const fences = 200
	in, out := testHelper(t, nil)
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

// The log of a rank waits for the reader of our stderr. Other requests of ranks do not wait meanwhile.
func TestLogThatNobodyReads(t *testing.T) {
	reader := make(chan struct{})
	events := told{logged: func([]byte) { <-reader }, arrived: make(chan struct{})}
	in, out := testHelper(t, events)
	_, err := fmt.Fprintf(out, "log 0x1 0 %x\nlog 0x2 0 %[1]x\nconnected 0\n", "a text\n")
	require.NoError(t, err)
	select {
	case <-events.arrived:
	case <-time.After(time.Minute):
		t.Fatal("the rank waits for who reads the log")
	}
	close(reader)
	var answers []string
	for lines := bufio.NewScanner(in); len(answers) < 2 && lines.Scan(); {
		answers = append(answers, lines.Text())
	}
	assert.ElementsMatch(t, []string{"done 0x1 ok ", "done 0x2 ok "}, answers)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
