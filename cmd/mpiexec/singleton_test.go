// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// alone is a process that runs without a launcher and asks for one as MPICH does. It answers the greeting with hello and
// returns its end of the session, after what it was told.
func alone(t *testing.T, pid int, hello string) (j *job, client probeClient, info string) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	j = launch(t, nil, "mpiexec", "-pmi_args", port, "default_interface", "default_key", strconv.Itoa(pid))
	require.NoError(t, listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience)))
	conn, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(limit)))
	client = probeClient{conn: conn, rank: "0"}
	greeting, err := client.read(false)
	require.NoError(t, err)
	assert.Equal(t, "cmd=singinit authtype=none", greeting)
	_, err = fmt.Fprintln(conn, hello)
	require.NoError(t, err)
	info, _ = client.read(false)
	return j, client, info
}

const singinit = "cmd=singinit pmi_version=1 pmi_subversion=1 stdio=yes authtype=none"

// The dialogue is that of Hydra 5.0.1, and what it is for: the process publishes a name and spawns a world.
func TestSingleton(t *testing.T) {
	j, client, info := alone(t, 1, singinit)
	require.Regexp(t, `^cmd=singinit_info versionok=yes stdio=no kvsname=kvs_\S+$`, info)
	kvsname := info[strings.LastIndex(info, "=")+1:]
	say := func(request string) string {
		_, err := fmt.Fprintln(client.conn, request)
		require.NoError(t, err)
		reply, err := client.read(false)
		require.NoError(t, err, request)
		return reply
	}
	for _, row := range [][2]string{
		{init1, "cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=0"},
		{"cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024"},
		{"cmd=get_universe_size", "cmd=universe_size size=-1"},
		{"cmd=get_my_kvsname", "cmd=my_kvsname kvsname=" + kvsname},
		{"cmd=barrier_in", "cmd=barrier_out"},
		{"cmd=publish_name service=svc port=p", "cmd=publish_result info=ok rc=0 msg=success"},
		{"mcmd=spawn\nnprocs=2\nexecname=pmiprobe\ntotspawns=1\nspawnssofar=1\narg1=" + init1 + "\narg2=cmd=lookup_name service=svc\narg3=cmd=finalize\nendcmd", "cmd=spawn_result rc=0"},
		{"cmd=finalize", "cmd=finalize_ack"},
	} {
		assert.Equal(t, row[1], say(row[0]))
	}
	assert.Zero(t, j.end(t), j.errOut.String())
	assert.Equal(t, 2, strings.Count(j.out.String(), "cmd=lookup_result port=p info=ok rc=0 msg=success\n"))
}

// What goes wrong ends mpiexec with a line that tells the process.
func TestSingletonFaults(t *testing.T) {
	j, _, info := alone(t, 1, "cmd=hello")
	assert.Empty(t, info)
	assert.Equal(t, 255, j.end(t))
	assert.Contains(t, j.errOut.String(), "connect to process 1: it does not ask for PMI-1")

	j, code := runJob(t, "-pmi_args", "1", "default_interface", "default_key", "1") // nobody listens
	assert.Equal(t, 255, code)
	assert.Contains(t, j.errOut.String(), "connect to process 1: dial tcp")

	// One that aborts ends itself, and mpiexec with its code.
	j, client, _ := alone(t, os.Getpid(), singinit)
	_, err := fmt.Fprintf(client.conn, "%s\ncmd=abort exitcode=7\n", init1)
	require.NoError(t, err)
	assert.Equal(t, 7, j.end(t))

	j, client, _ = alone(t, 1, singinit)
	_, err = fmt.Fprintln(client.conn, init1)
	require.NoError(t, err)
	_, err = client.read(false)
	require.NoError(t, err)
	client.conn.(net.Conn).Close()
	j.end(t)
	assert.Contains(t, j.errOut.String(), "rank 0 (process 1 on ")
	assert.Contains(t, j.errOut.String(), "without MPI_Finalize of rank 0")
}

// An abort of what it has spawned ends the process too.
func TestSingletonIsKilled(t *testing.T) {
	self := exec.Command("sleep", "60")
	require.NoError(t, self.Start())
	j, client, _ := alone(t, self.Process.Pid, singinit)
	_, err := fmt.Fprintf(client.conn, "%s\nmcmd=spawn\nnprocs=1\nexecname=pmiprobe\ntotspawns=1\nspawnssofar=1\narg1=%s\narg2=cmd=abort exitcode=7\nendcmd\n", init1, init1)
	require.NoError(t, err)
	assert.Error(t, self.Wait(), "killed")
	assert.Equal(t, 7, j.end(t), j.errOut.String())
}

// An MPI program that was started bare starts our mpiexec when it needs a name service.
func TestSingletonMPICH(t *testing.T) {
	program := testsupport.CC(t, "mpicc.mpich", "testdata/names.c")
	mpiexec, err := exec.LookPath("mpiexec")
	require.NoError(t, err)
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nexec %s -pmi-trace \"$@\" 2>%s/trace\n", mpiexec, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mpiexec"), []byte(script), 0o755))
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "UCX_HANDLE_ERRORS=none")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "published and found at tag\n", string(out))
	var trace []byte
	require.Eventually(t, func() bool {
		trace, _ = os.ReadFile(filepath.Join(dir, "trace"))
		return strings.Contains(string(trace), "[rank 0] <- cmd=finalize_ack")
	}, patience, 20*time.Millisecond)
	assert.Contains(t, string(trace), "[rank 0] -> cmd=publish_name service=svc port=tag\n")
}
