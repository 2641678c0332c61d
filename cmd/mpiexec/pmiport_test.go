// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPMIPort(t *testing.T) {
	j, code := runJob(t, "-pmi-port", "-n", "3", probe(t))
	assert.Zero(t, code, j.errOut.String())
	assert.Equal(t, 3, strings.Count(j.out.String(), " of 3, sum 3\n"))

	j, code = runJob(t, "-l", "-pmi-port", "-launcher", "fork", "-hosts", "127.0.0.2:1,127.0.0.3:1", "-n", "1", "pmiprobe", "cmd=initack pmiid=RANK",
		init1, "cmd=get_my_kvsname", "cmd=put kvsname=KVS key=a value=b", "cmd=barrier_in", "cmd=finalize", ":",
		"-n", "1", "pmiprobe", init2, "cmd=fullinit;pmirank=RANK;", "cmd=kvs-fence;", "cmd=kvs-get;key=a;", "cmd=finalize;")
	require.Zero(t, code, j.errOut.String())
	assert.Contains(t, j.out.String(), "[1] cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=1;size=2;appnum=1;")
	assert.Contains(t, j.out.String(), "[1] cmd=kvs-get-response;found=TRUE;value=b;rc=0;\n")

	took := limit
	for try := 0; try < 3 && took > 3*time.Second; try++ {
		j, code = runJob(t, "-pmi-port", "-n", "2", "sh", "-c", `echo "${PMI_FD-none} ${PMI_RANK-none} ${PMI_SIZE-none} ${PMI_PORT%:*}"`)
		assert.Zero(t, code)
		assert.Equal(t, strings.Repeat("none none none 127.0.0.1\n", 2), j.out.String())
		took = min(took, time.Since(j.started))
	}
	assert.Less(t, took, 3*time.Second, "nothing waits for a rank that never connects")

	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	first := taken.Addr().(*net.TCPAddr).Port
	t.Setenv("MPIEXEC_PORT_RANGE", fmt.Sprintf("%d:%d", first, first+50))
	j, code = runJob(t, "-pmi-port", "-n", "1", "sh", "-c", `echo ${PMI_PORT#*:}`)
	assert.Zero(t, code, j.errOut.String())
	port, err := strconv.Atoi(strings.TrimSpace(j.out.String()))
	require.NoError(t, err)
	assert.Greater(t, port, first)
	assert.LessOrEqual(t, port, first+50)
	t.Setenv("MPIEXEC_PORT_RANGE", fmt.Sprintf("%d:%d", first, first))
	j, code = runJob(t, "-pmi-port", "-n", "1", "true")
	assert.Equal(t, 255, code)
	assert.Contains(t, j.errOut.String(), fmt.Sprintf("mpiexec: open the PMI port: no port from %d to %d is free", first, first))
	t.Setenv("MPIEXEC_PORT_RANGE", "")

	j, code = runJob(t, "-pmi-port", "-n", "2", "-rpp", "2", "-tpsl", "shared", "true")
	assert.Equal(t, 255, code)
	assert.Contains(t, j.errOut.String(), "-pmi-port serves one rank per process")
}

// A rank that ends without finalize or dies is found out as with a socket of its own.
func TestPMIPortFaults(t *testing.T) {
	j, code := runJob(t, "-pmi-port", "-n", "2", probe(t), "exit", "7")
	assert.Equal(t, 7, code)
	assert.Contains(t, j.errOut.String(), "without MPI_Finalize of rank 1")
	j, code = runJob(t, "-pmi-port", "-n", "2", probe(t), "abort", "9")
	assert.Equal(t, 9, code, j.errOut.String())
}

// Whoever connects to the PMI port of a running job without being one of its ranks gets no answer, and the job goes on.
func TestStrangersAtPMIPort(t *testing.T) {
	in, feed := pipe(t)
	r, w := pipe(t)
	// Rank 0 has its session when rank 1, which begins when stdin tells it to, has none.
	script := `if [ $PMI_ID = 0 ]; then exec "$@"; fi; echo port $PMI_PORT; read go; exec "$@"`
	args := []string{"mpiexec", "-pmi-port", "-stdin", "1", "-n", "2", "sh", "-c", script, "sh", "pmiprobe", "cmd=initack pmiid=RANK",
		init1, "cmd=get_my_kvsname", "cmd=put kvsname=KVS key=kRANK value=vRANK", "cmd=barrier_in",
		"cmd=get kvsname=KVS key=k0", "cmd=get kvsname=KVS key=k1", "cmd=finalize"}
	j := launchTo(t, in, w, args...)
	in.Close()
	w.Close()
	j.reader = newCollector(r)
	j.reader.await(t, "cmd=put_result rc=0", 1)
	j.reader.await(t, "port 127.0.0.1:", 1)
	_, port, _ := strings.Cut(j.reader.text(), "port ")
	port, _, _ = strings.Cut(port, "\n")

	for name, text := range map[string]string{
		"12 bytes":                 "HYD\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"nothing":                  "",
		"garbage":                  strings.Repeat("x", 1<<20),
		"garbage lines":            strings.Repeat("x\n", 1000),
		"a rank that is connected": "cmd=initack pmiid=0\n" + init1 + "\ncmd=abort exitcode=66\n",
		"no rank":                  "cmd=initack pmiid=2\ncmd=abort exitcode=66\n",
		"a negative rank":          "cmd=initack pmiid=-1\ncmd=abort exitcode=66\n",
		"no identity":              init1 + "\ncmd=abort exitcode=66\n",
		"no command":               "cmd=abort exitcode=66\n",
		"PMI-2, no rank":           init2 + "\n    22cmd=fullinit;pmirank=7    22cmd=abort;exitcode=66;",
		"PMI-2, no identity":       init2 + "\n    22cmd=abort;exitcode=66;",
		"half a message":           "    99cmd=fullinit;",
	} {
		reply := strings.TrimPrefix(knock(t, port, text), "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n")
		assert.Empty(t, reply, name)
	}
	open := make([]net.Conn, 200) // half open, and more that come and go
	for i := range open {
		conn, err := net.Dial("tcp", port)
		require.NoError(t, err)
		open[i] = conn
		defer conn.Close()
		knock(t, port, "cmd=initack pmiid=1000\n")
	}
	otherUser(t, port)

	_, err := feed.WriteString("go\n")
	require.NoError(t, err)
	feed.Close()
	assert.Zero(t, j.end(t), j.errOut.String())
	j.reader.await(t, "value=v1\n", 2)
	assert.Equal(t, 1, strings.Count(j.errOut.String(), "it names a rank that has a session"), j.errOut.String())
	assert.Less(t, strings.Count(j.errOut.String(), "\n"), 10, "a reason is told once")
}

// knock sends text, says no more, and returns what comes back until the other end closes.
func knock(t *testing.T, port, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", port)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, _ = io.WriteString(conn, text) // the other end may have had enough
	_ = conn.(*net.TCPConn).CloseWrite()
	reply, err := io.ReadAll(conn)
	if !errors.Is(err, syscall.ECONNRESET) { // it closed with our bytes unread
		require.NoError(t, err)
	}
	return string(reply)
}

// otherUser asks for rank 1, which is free, as another user. Only root can.
func otherUser(t *testing.T, port string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Log("not root: the table of sockets is tested in TestParseOwner")
		return
	}
	host, number, _ := strings.Cut(port, ":")
	cmd := exec.Command("bash", "-c", `exec 3<>/dev/tcp/$1/$2; echo cmd=initack pmiid=1 >&3; cat <&3; echo ended`, "bash", host, number)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	var out bytes.Buffer
	cmd.Stdout = &out
	_ = cmd.Run() // a connection that is reset ends cat with an error
	assert.Equal(t, "ended\n", out.String())
}
