// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func send2(t *testing.T, conn net.Conn, body string) {
	t.Helper()
	go func() { _, _ = fmt.Fprintf(conn, "%6d%s", len(body), body) }()
}

func receive2(t *testing.T, conn net.Conn) string {
	t.Helper()
	var prefix [lengthDigits]byte
	_, err := io.ReadFull(conn, prefix[:])
	require.NoError(t, err)
	length, err := strconv.Atoi(strings.TrimLeft(string(prefix[:]), " "))
	require.NoError(t, err, "%q is padded on the left", prefix)
	body := make([]byte, length)
	_, err = io.ReadFull(conn, body)
	require.NoError(t, err)
	return string(body)
}

func ask2(t *testing.T, conn net.Conn, body string) string {
	t.Helper()
	send2(t, conn, body)
	return receive2(t, conn)
}

// The requests and replies are those of a client under Hydra 4.0.2 but where the comment says so.
func TestRepliesPMI2(t *testing.T) {
	events, conns := serve(t, 2)
	conn := conns[0]
	assert.Equal(t, "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0", ask(t, conn, "cmd=init pmi_version=2 pmi_subversion=0"))
	for _, row := range []struct{ request, reply string }{
		{"cmd=fullinit;pmirank=0;threaded=FALSE;", "cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=0;size=2;appnum=0;debugged=FALSE;pmiverbose=FALSE;rc=0;"},
		{"cmd=job-getid;", "cmd=job-getid-response;jobid=kvs_1;rc=0;"},
		{"cmd=info-getjobattr;key=PMI_process_mapping;", "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,1,2));rc=0;"},
		{"cmd=info-getjobattr;key=universeSize;", "cmd=info-getjobattr-response;found=FALSE;rc=0;"},
		{"cmd=info-getjobattr;key=nosuch;", "cmd=info-getjobattr-response;found=FALSE;rc=0;"},
		{"cmd=info-getjobattr;key=hasNameServ;", "cmd=info-getjobattr-response;found=FALSE;rc=0;"},
		{"cmd=info-getnodeattr;key=nk;wait=FALSE;", "cmd=info-getnodeattr-response;found=FALSE;rc=0;"},
		{"cmd=info-putnodeattr;key=nk;value=nv;", "cmd=info-putnodeattr-response;rc=0;"},
		{"cmd=info-getnodeattr;key=nk;wait=TRUE;", "cmd=info-getnodeattr-response;found=TRUE;value=nv;rc=0;"},
		{"cmd=kvs-put;key=k0;value=v 0=x;", "cmd=kvs-put-response;rc=0;"},
		{"cmd=kvs-get;srcid=-1;key=k0;", "cmd=kvs-get-response;found=TRUE;value=v 0=x;rc=0;"},
		{"cmd=kvs-get;jobid=kvs_1;srcid=-1;key=k0;", "cmd=kvs-get-response;found=TRUE;value=v 0=x;rc=0;"},
		{"cmd=kvs-get;srcid=-1;key=missing;", "cmd=kvs-get-response;found=FALSE;rc=0;"},
		{"cmd=name-publish;name=svc;port=p1;infokeycount=0;", "cmd=name-publish-response;rc=0;"},
		{"cmd=name-lookup;name=svc;infokeycount=0;", "cmd=name-lookup-response;port=p1;found=TRUE;rc=0;"},
		{"cmd=name-publish;name=svc;port=p2;infokeycount=0;", "cmd=name-publish-response;rc=1;errmsg=key_already_present;"},
		{"cmd=name-unpublish;name=svc;infokeycount=0;", "cmd=name-unpublish-response;rc=0;"},
		{"cmd=name-lookup;name=svc;infokeycount=0;", "cmd=name-lookup-response;found=FALSE;rc=1;"},
		{"cmd=kvs-put;thrid=0x1234;key=kt;value=vt;", "cmd=kvs-put-response;thrid=0x1234;rc=0;"},
		// Hydra 4.0.2 stores these.
		{"cmd=kvs-put;key=PMI_x;value=v;", "cmd=kvs-put-response;rc=1;errmsg=reserved_key;"},
		{"cmd=kvs-put;key=long;value=" + strings.Repeat("v", ValLenMax) + ";", "cmd=kvs-put-response;rc=1;errmsg=value_too_long;"},
		// The job ends on these under Hydra.
		{"cmd=nosuch;thrid=7;", "cmd=nosuch-response;thrid=7;rc=-1;errmsg=unknown command;"},
		{"nothing", "cmd=error-response;rc=-1;errmsg=no command;"},
		{"", "cmd=error-response;rc=-1;errmsg=no command;"},
	} {
		assert.Equal(t, row.reply, ask2(t, conn, row.request), row.request)
	}
	// A line of PMI-1 is answered as one at any time.
	assert.Equal(t, "cmd=get_result rc=0 msg=success value=v 0=x", ask(t, conn, "cmd=get kvsname=kvs_1 key=k0"))
	assert.Equal(t, "cmd=put_result rc=0 msg=success", ask(t, conn, "cmd=put kvsname=kvs_1 key=semi value=a;b"))
	assert.Equal(t, "cmd=kvs-get-response;found=FALSE;rc=0;", ask2(t, conn, "cmd=kvs-get;key=semi;"), "it would cut the reply")
	assert.Equal(t, "cmd=finalize-response;rc=0;", ask2(t, conn, "cmd=finalize;"))
	events.await(t, "finalize 0")
	assert.Contains(t, events.all(), `unknown PMI-2 command "nosuch"`)
}

// Three hosts, one of whose ranks speaks PMI-1: after a fence every key that was put is found everywhere, and one that nobody
// put is missing at once.
func TestFenceOfManyHosts(t *testing.T) {
	conns := serveHosts(t, Ranks{0, 3}, Ranks{1, 4}, Ranks{2, 5})
	var ranks sync.WaitGroup
	for rank, conn := range conns {
		ranks.Go(func() {
			for round := range 3 {
				own := fmt.Sprintf("key=k%d-%d;value=v%d;", round, rank, rank)
				if rank == 5 {
					ask(t, conn, fmt.Sprintf("cmd=put kvsname=kvs_1 key=k%d-5 value=v5", round))
					assert.Equal(t, "cmd=barrier_out", ask(t, conn, "cmd=barrier_in"))
					continue
				}
				assert.Equal(t, "cmd=kvs-put-response;rc=0;", ask2(t, conn, "cmd=kvs-put;"+own))
				assert.Equal(t, "cmd=kvs-fence-response;rc=0;", ask2(t, conn, "cmd=kvs-fence;"))
				for peer := range conns {
					want := fmt.Sprintf("cmd=kvs-get-response;found=TRUE;value=v%d;rc=0;", peer)
					assert.Equal(t, want, ask2(t, conn, fmt.Sprintf("cmd=kvs-get;srcid=-1;key=k%d-%d;", round, peer)))
				}
				assert.Equal(t, "cmd=kvs-get-response;found=FALSE;rc=0;", ask2(t, conn, "cmd=kvs-get;srcid=-1;key=absent;"))
			}
		})
	}
	ranks.Wait()
}

// A get of a node's attribute with wait=TRUE is answered when the attribute is put, other requests before it.
func TestNodeAttributeWaits(t *testing.T) {
	conns := serveHosts(t, Ranks{0, 1}, Ranks{2})
	send2(t, conns[0], "cmd=info-getnodeattr;thrid=a;key=nk;wait=TRUE;")
	assert.Equal(t, "cmd=job-getid-response;thrid=b;jobid=kvs_1;rc=0;", ask2(t, conns[0], "cmd=job-getid;thrid=b;"))
	assert.Equal(t, "cmd=info-putnodeattr-response;rc=0;", ask2(t, conns[2], "cmd=info-putnodeattr;key=nk;value=there;"))
	send2(t, conns[1], "cmd=info-putnodeattr;key=nk;value=here;")
	assert.Equal(t, "cmd=info-getnodeattr-response;thrid=a;found=TRUE;value=here;rc=0;", receive2(t, conns[0]))
	assert.Equal(t, "cmd=info-putnodeattr-response;rc=0;", receive2(t, conns[1]))
}

func TestAbortPMI2(t *testing.T) {
	for request, want := range map[string]string{
		"cmd=abort;isworld=TRUE;msg=out of memory;":                `abort 0 1 "out of memory"`,
		"cmd=abort;isworld=TRUE;exitcode=37;message=no such file;": `abort 0 37 "no such file"`,
	} {
		events, conns := serve(t, 1)
		send2(t, conns[0], request)
		events.await(t, want)
	}
}
