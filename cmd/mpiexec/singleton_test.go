// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// startedAlone runs mpiexec as a program does that started alone, and answers its greeting.
func startedAlone(t *testing.T, greeting string) (j *job, say func(string), hear func() string) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	j = launch(t, nil, "mpiexec", "-pmi_args", port, "default_interface", "default_key", strconv.Itoa(os.Getpid()))
	require.NoError(t, listener.(*net.TCPListener).SetDeadline(time.Now().Add(10*time.Second)))
	conn, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	reader := bufio.NewReader(conn)
	say = func(line string) {
		_, err := fmt.Fprintf(conn, "%s\n", line)
		require.NoError(t, err)
	}
	hear = func() string {
		line, err := reader.ReadString('\n')
		require.NoError(t, err)
		return line[:len(line)-1]
	}
	assert.Equal(t, "cmd=singinit authtype=none", hear())
	say(greeting)
	return j, say, hear
}

// A program that started alone gets a session of PMI.
func TestSingleton(t *testing.T) {
	testsupport.NothingLeft(t)
	j, say, hear := startedAlone(t, "cmd=singinit pmi_version=1 pmi_subversion=1 stdio=yes authtype=none")
	assert.Regexp(t, `^cmd=singinit_info versionok=yes stdio=no kvsname=kvs_\S+$`, hear())
	for _, c := range [][2]string{
		{"cmd=init pmi_version=1 pmi_subversion=1", `^cmd=response_to_init pmi_version=1 .*rc=0`},
		{"cmd=get_maxes", `^cmd=maxes .*vallen_max=1024`},
		{"cmd=get_universe_size", `^cmd=universe_size .*size=-1`},
		{"cmd=publish_name service=s port=p q", `^cmd=publish_result info=ok rc=0`},
		{"cmd=lookup_name service=s", `^cmd=lookup_result port=p`},
		{"mcmd=spawn\nnprocs=1\nexecname=true\ntotspawns=1\nspawnssofar=1\nargcnt=0\npreput_num=0\ninfo_num=0\nendcmd", `^cmd=spawn_result rc=-?[1-9]`},
		{"cmd=barrier_in", `^cmd=barrier_out`},
		{"cmd=finalize", `^cmd=finalize_ack`},
	} {
		say(c[0])
		assert.Regexp(t, c[1], hear(), c[0])
	}
	assert.Zero(t, j.end(t))
	assert.Empty(t, j.out.String())
	assert.Equal(t, "mpiexec: spawn: a program that was started without mpiexec cannot spawn; start it with mpiexec -n 1\n", j.errOut.String())
}

func TestSingletonAborts(t *testing.T) {
	testsupport.NothingLeft(t)
	j, say, hear := startedAlone(t, "cmd=singinit pmi_version=1 pmi_subversion=1 stdio=yes authtype=none")
	hear()
	say("cmd=init pmi_version=1 pmi_subversion=1")
	hear()
	say("cmd=abort exitcode=7")
	assert.Equal(t, 7, j.end(t))
}

// What listens there may be anything.
func TestSingletonRefuses(t *testing.T) {
	testsupport.NothingLeft(t)
	j, _, _ := startedAlone(t, "220 smtp.example.org")
	assert.Equal(t, 255, j.end(t))
	assert.Equal(t, fmt.Sprintf("mpiexec: serve process %d, which started alone: it answered \"220 smtp.example.org\"\n", os.Getpid()), j.errOut.String())

	j, code := runJob(t, "-pmi_args", "1", "i", "k", "7")
	assert.Equal(t, 255, code)
	assert.Regexp(t, `^mpiexec: serve process 7, which started alone: dial tcp4 127.0.0.1:1: .*refused\n$`, j.errOut.String())
}
