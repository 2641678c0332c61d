// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package whereabouts

import (
	"bufio"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fake is a job of this process.
type fake struct {
	watchers atomic.Int32
	looks    atomic.Int32
	over     atomic.Bool
}

func (f *fake) Stacks() string { return f.Where() + "#0 main\n" }

func (f *fake) Where() string {
	if f.over.Load() {
		return ""
	}
	return "rank 0: here\n"
}

func (f *fake) Watch() func() {
	f.watchers.Add(1)
	return func() { f.watchers.Add(-1) }
}

func (f *fake) Look() (Job, bool) {
	ranks := make([]Rank, 4096)
	for i := range ranks {
		ranks[i] = Rank{Rank: i, State: "in MPI_Barrier(MPI_COMM_WORLD)"}
	}
	return Job{PID: os.Getpid(), Name: "fake", Ranks: int(f.looks.Add(1)), Hosts: []Host{{Processes: []Process{{Ranks: ranks}}}}}, !f.over.Load()
}

func serveFake(t *testing.T, most limits) *fake {
	t.Helper()
	f := &fake{}
	server, err := serve(f, most)
	require.NoError(t, err)
	t.Cleanup(func() { server.Close() })
	return f
}

func connection(t *testing.T) *Connection {
	t.Helper()
	c, err := Connect(os.Getpid())
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestQuestions(t *testing.T) {
	f := serveFake(t, usualLimits)
	jobs, err := Jobs()
	require.NoError(t, err)
	assert.Contains(t, jobs, os.Getpid())
	c := connection(t)
	assert.Equal(t, os.Getpid(), c.PID)
	text, err := c.Where()
	require.NoError(t, err)
	assert.Equal(t, "rank 0: here\n", text)
	assert.Zero(t, f.watchers.Load(), "who asks where ranks are does not watch")
	for look := 1; look <= 3; look++ {
		job, err := c.Look()
		require.NoError(t, err)
		assert.Equal(t, look, job.Ranks)
		assert.Len(t, job.Hosts[0].Processes[0].Ranks, 4096)
		assert.Equal(t, int32(1), f.watchers.Load())
	}
	c.Close()
	assert.Eventually(t, func() bool { return f.watchers.Load() == 0 }, time.Minute, time.Millisecond, "the connection is closed")
}

// When the job ends, and when mpiexec is gone, that is the error.
func TestEnded(t *testing.T) {
	f := &fake{}
	server, err := Serve(f)
	require.NoError(t, err)
	c, other := connection(t), connection(t)
	_, err = c.Look()
	require.NoError(t, err)
	f.over.Store(true)
	_, err = c.Look()
	assert.ErrorIs(t, err, ErrEnded)
	_, err = other.Where()
	assert.ErrorIs(t, err, ErrEnded)
	server.Close()
	_, err = c.Look()
	assert.Error(t, err)
	_, err = Connect(os.Getpid())
	assert.ErrorIs(t, err, ErrNoJob)
}

// mpiexec ends the connection of one who asks nothing for long, and who asks again is connected again.
func TestQuietPeer(t *testing.T) {
	short := usualLimits
	short.quiet = 2 * time.Second // a new connection is quiet, too, until its client has a processor
	f := serveFake(t, short)
	c := connection(t)
	_, err := c.Look()
	require.NoError(t, err)
	require.Eventually(t, func() bool { return f.watchers.Load() == 0 }, time.Minute, time.Millisecond)
	job, err := c.Look()
	require.NoError(t, err)
	assert.Equal(t, 2, job.Ranks)
}

// mpiexec ends the connection of one who does not read, and samples no more for it.
func TestPeerThatDoesNotRead(t *testing.T) {
	short := usualLimits
	short.read = 100 * time.Millisecond
	f := serveFake(t, short)
	conn, err := net.Dial("unix", name(os.Getpid()))
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte(strings.Repeat(`{"ask":"look"}`+"\n", 20)))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return f.looks.Load() > 0 && f.watchers.Load() == 0 }, time.Minute, time.Millisecond)
	assert.Less(t, f.looks.Load(), int32(20))
}

// Others are answered while one does not read.
func TestPeersAreServedAtTheSameTime(t *testing.T) {
	patient := usualLimits
	patient.read = time.Hour
	f := serveFake(t, patient)
	conn, err := net.Dial("unix", name(os.Getpid()))
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte(strings.Repeat(`{"ask":"look"}`+"\n", 20)))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return f.looks.Load() > 0 }, time.Minute, time.Millisecond)
	text, err := connection(t).Where()
	require.NoError(t, err)
	assert.Equal(t, "rank 0: here\n", text)
}

// raw sends a line and returns what is answered.
func raw(t *testing.T, question string) string {
	t.Helper()
	conn, err := net.Dial("unix", name(os.Getpid()))
	require.NoError(t, err)
	defer conn.Close()
	_, _ = conn.Write([]byte(question)) // mpiexec may have closed it
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return line
}

// Questions of other versions are answered with an error, and what is no question with nothing.
func TestOtherQuestions(t *testing.T) {
	serveFake(t, usualLimits)
	assert.Contains(t, raw(t, `{"ask":"why"}`+"\n"), `{"error":"mpiexec is of version `)
	assert.Contains(t, raw(t, `{"ask":"where","more":[1]}`+"\n"), "rank 0: here")
	assert.Empty(t, raw(t, "where\n"))
	assert.Empty(t, raw(t, strings.Repeat("x", 10*longestQuestion)+"\n"))
}

// More may connect than may ask, and who is too much learns that.
func TestTooManyPeers(t *testing.T) {
	few := usualLimits
	few.peers = 3
	serveFake(t, few)
	for range few.peers {
		_, err := connection(t).Where()
		require.NoError(t, err)
	}
	_, err := connection(t).Where()
	assert.ErrorContains(t, err, "3 others are asking this job")
}
