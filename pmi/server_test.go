// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is how long what comes by itself may take.
const patience = time.Minute

// record keeps what a server reports.
type record struct {
	mu     sync.Mutex
	events []string
	wake   chan struct{}
}

func newRecord() *record { return &record{wake: make(chan struct{}, 1000)} }

func (r *record) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
	r.wake <- struct{}{}
}

func (r *record) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.events, "\n")
}

// await waits until the events contain text.
func (r *record) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(patience)
	for !strings.Contains(r.all(), text) {
		select {
		case <-r.wake:
		case <-limit:
			t.Fatalf("no event %q in\n%s", text, r.all())
		}
	}
}

func (r *record) Initialized(rank int)             { r.add("init %d", rank) }
func (r *record) Finalized(rank int)               { r.add("finalize %d", rank) }
func (r *record) Aborted(rank, code int, s string) { r.add("abort %d %d %q", rank, code, s) }
func (r *record) Disconnected(rank int)            { r.add("disconnected %d", rank) }
func (r *record) Warned(rank int, text string)     { r.add("warning %d %s", rank, text) }

const testKVS = "kvs_1"

// A root is the top of the tree.
type root struct {
	*Gather
	*Names
	spawn func(SpawnRequest) SpawnReply
}

func newRoot(size int) root { return root{NewGather(size, AllRanks(size), nil), new(Names), nil} }

func (r root) Publish(service, port string) error { return r.Names.Publish(service, port, false) }

func (r root) Spawn(request SpawnRequest) SpawnReply {
	if r.spawn == nil {
		return SpawnReply{Error: "nothing can be spawned here"}
	}
	return r.spawn(request)
}

// serve starts a server with one session per rank and returns the clients' ends.
func serve(t *testing.T, ranks int) (*record, []net.Conn) {
	t.Helper()
	events := newRecord()
	return events, serveFor(t, events, AllRanks(ranks))
}

// A rank may end as soon as it has its answer, so it is noted before that it has finalized.
func TestFinalizedBeforeTheAnswer(t *testing.T) {
	events, clients := serve(t, 1)
	ask(t, clients[0], "cmd=init pmi_version=1 pmi_subversion=1")
	_, err := io.WriteString(clients[0], "cmd=finalize\n")
	require.NoError(t, err)
	_, err = clients[0].Read(make([]byte, 1)) // the rest of the answer is under way
	require.NoError(t, err)
	assert.Contains(t, events.all(), "finalize 0")
	_, err = io.ReadAll(clients[0])
	require.NoError(t, err)
}

// serveHosts does the same on several hosts.
func serveHosts(t *testing.T, hosts ...Ranks) []net.Conn {
	t.Helper()
	return serveFor(t, newRecord(), hosts...)
}

func serveFor(t *testing.T, events Events, hosts ...Ranks) []net.Conn {
	t.Helper()
	size := 0
	for _, ranks := range hosts {
		size += len(ranks)
	}
	nodes := make([]int, size)
	for node, ranks := range hosts {
		for _, rank := range ranks {
			nodes[rank] = node
		}
	}
	world := World{Size: size, KVSName: testKVS, Mapping: Mapping(nodes)}
	root := newRoot(size)
	var sessions sync.WaitGroup
	clients := make([]net.Conn, size)
	var servers []*Server
	for _, ranks := range hosts {
		server := NewServer(world, ranks, root, events, nil)
		servers = append(servers, server)
		for _, rank := range ranks {
			ours, theirs := net.Pipe()
			require.NoError(t, ours.SetDeadline(time.Now().Add(patience)))
			clients[rank] = ours
			sessions.Go(func() { server.Serve(rank, rank%2, theirs) })
		}
	}
	t.Cleanup(func() {
		for _, c := range clients {
			c.Close()
		}
		for _, server := range servers {
			server.Close()
		}
		sessions.Wait()
	})
	return clients
}

// ask sends a request and returns the reply.
func ask(t *testing.T, conn net.Conn, request string) string {
	t.Helper()
	go func() { _, _ = conn.Write([]byte(request + "\n")) }()
	reply, err := bufio.NewReaderSize(conn, 1).ReadString('\n')
	require.NoError(t, err, request)
	return strings.TrimSuffix(reply, "\n")
}

// The replies are those of Hydra 4.0 but where the comment of the row says so.
func TestReplies(t *testing.T) {
	events, conns := serve(t, 1)
	conn := conns[0]
	for _, row := range []struct{ request, reply string }{
		{"cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=0"}, // as Hydra 5
		{"cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024"},
		{"cmd=get_appnum", "cmd=appnum appnum=0"},
		{"cmd=get_universe_size", "cmd=universe_size size=-1"},
		{"cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_1"},
		{"cmd=get kvsname=kvs_1 key=PMI_process_mapping", "cmd=get_result rc=0 msg=success value=(vector,(0,1,1))"},
		{"cmd=get kvsname=kvs_1 key=PMI_hwloc_xmlfile", "cmd=get_result rc=-1 msg=key_PMI_hwloc_xmlfile_not_found value=unknown"},
		{"cmd=get kvsname=kvs_1 key=PMI_dead_processes", "cmd=get_result rc=0 msg=success value="},
		{"cmd=get kvsname=kvs_1 key=nokey", "cmd=get_result rc=-1 msg=key_nokey_not_found value=unknown"},
		{"cmd=put kvsname=kvs_1 key=k0 value=v 0=x", "cmd=put_result rc=0 msg=success"},
		// Visible at once to the ranks of the host.
		{"cmd=get kvsname=kvs_1 key=k0", "cmd=get_result rc=0 msg=success value=v 0=x"},
		{"cmd=put kvsname=kvs_1 key=k0 value=new", "cmd=put_result rc=0 msg=success"},
		{"cmd=get kvsname=kvs_1 key=k0", "cmd=get_result rc=0 msg=success value=new"},
		{"cmd=put kvsname=kvs_1 key=PMI_x value=1", "cmd=put_result rc=-1 msg=reserved_key"},
		{"cmd=put kvsname=kvs_1 key= value=", "cmd=put_result rc=0 msg=success"},
		{"cmd=put kvsname=kvs_1 value=1", "cmd=put_result rc=-1 msg=no_key"},
		{"cmd=put kvsname=other key=a value=1", "cmd=put_result rc=-1 msg=kvsname_not_found"},
		{"cmd=publish_name service=svc port=tag#0$", "cmd=publish_result info=ok rc=0 msg=success"},
		{"cmd=publish_name service=svc port=dup", "cmd=publish_result info=ok rc=1 msg=key_already_present"},
		{"cmd=lookup_name service=svc", "cmd=lookup_result port=tag#0$ info=ok rc=0 msg=success"},
		{"cmd=lookup_name service=nosvc", "cmd=lookup_result rc=1 msg=service_not_found"},
		{"cmd=unpublish_name service=svc", "cmd=unpublish_result info=ok rc=0 msg=success"},
		{"cmd=unpublish_name service=svc", "cmd=unpublish_result info=ok rc=1 msg=service_not_found"},
		// Hydra ends the job on what follows, up to barrier_in.
		{"cmd=create_kvs", "cmd=newkvs kvsname=kvs_1_1"},
		{"cmd=put kvsname=kvs_1_1 key=b value=2", "cmd=put_result rc=0 msg=success"},
		{"cmd=put kvsname=kvs_1_1 key=a value=1", "cmd=put_result rc=0 msg=success"},
		{"cmd=getbyidx kvsname=kvs_1_1 idx=0", "cmd=getbyidx_results rc=0 nextidx=1 key=a val=1"},
		{"cmd=getbyidx kvsname=kvs_1_1 idx=2", "cmd=getbyidx_results rc=-2 reason=no_more_keyvals"},
		{"cmd=getbyidx kvsname=kvs_1_1 idx=x", "cmd=getbyidx_results rc=-1 reason=bad_index"},
		{"cmd=destroy_kvs kvsname=kvs_1_1", "cmd=kvs_destroyed rc=0 msg=success"},
		{"cmd=destroy_kvs kvsname=kvs_1_1", "cmd=kvs_destroyed rc=-1 msg=kvsname_not_found"},
		{"cmd=destroy_kvs kvsname=kvs_1", "cmd=kvs_destroyed rc=-1 msg=kvsname_not_found"},
		{"cmd=get_id_length_max", "cmd=get_id_length_max_result rc=-1 msg=unknown_cmd"},
		{"garbage text", "cmd=error rc=-1 msg=no_command"},
		{"cmd=" + strings.Repeat("x", 2000), "cmd=" + strings.Repeat("x", 64) + "_result rc=-1 msg=unknown_cmd"},
		{"cmd=init pmi_version=3 pmi_subversion=0", "cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=-1"},
		{"cmd=barrier_in", "cmd=barrier_out"},
		{"cmd=finalize", "cmd=finalize_ack"},
	} {
		assert.Equal(t, row.reply, ask(t, conn, row.request), row.request)
	}
	events.await(t, "finalize 0")
	assert.Contains(t, events.all(), `warning 0 unknown PMI command "get_id_length_max"`)
	assert.NotContains(t, events.all(), "disconnected")
}

// A value that makes the line longer than old clients hold is refused at put; one that just fits drops msg=success.
func TestReplyLength(t *testing.T) {
	_, conns := serve(t, 1)
	for length := 900; length <= ValLenMax; length++ {
		value := strings.Repeat("v", length)
		stored := ask(t, conns[0], "cmd=put kvsname=kvs_1 key=k value="+value) == "cmd=put_result rc=0 msg=success"
		assert.Equal(t, fitsReply(value), stored, length)
		if stored {
			reply := ask(t, conns[0], "cmd=get kvsname=kvs_1 key=k")
			assert.LessOrEqual(t, len(reply)+1, maxReply)
			assert.True(t, strings.HasSuffix(reply, "value="+value))
		}
	}
	assert.True(t, fitsReply(strings.Repeat("v", 990)))
}

func TestBuiltinKeys(t *testing.T) {
	root := newRoot(1)
	scattered := make([]int, 500)
	for rank := range scattered {
		scattered[rank] = rank * rank % 499
	}
	long := NewServer(World{Mapping: Mapping(scattered)}, Ranks{0}, root, newRecord(), nil)
	_, found := long.find("", "PMI_process_mapping")
	assert.False(t, found, "MPICH then exchanges host names")
	server := NewServer(World{AllocKinds: "mpi,system", Universe: 7}, Ranks{0}, root, newRecord(), nil)
	kinds, found := server.find("", "PMI_mpi_memory_alloc_kinds")
	assert.True(t, found)
	assert.Equal(t, "mpi,system", kinds)
	server.SetDead([]int{12, 3})
	dead, found := server.find("", "PMI_dead_processes")
	assert.True(t, found)
	assert.Equal(t, "3,12", dead)
	s := &session{server: server}
	assert.Equal(t, "cmd=universe_size size=7", s.getUniverseSize(Message{}))
	assert.Equal(t, "found=TRUE;value=7;rc=0;", s.getJobAttribute(Message{args: map[string]string{"key": "universeSize"}}))
}

func TestUnfinishedSpawn(t *testing.T) {
	_, conns := serve(t, 1)
	assert.Equal(t, "cmd=spawn_result rc=-1 msg=unfinished", ask(t, conns[0], "mcmd=spawn\nnprocs=2\ncmd=get_appnum"))
	assert.Equal(t, "cmd=appnum appnum=0", readLine(t, conns[0]))
	assert.Equal(t, "cmd=spawn_result rc=1 msg=malformed_request", ask(t, conns[0], "mcmd=spawn\nnprocs=0\nexecname=a\ntotspawns=1\nspawnssofar=1\nendcmd"))
}

func TestFragments(t *testing.T) {
	_, conns := serve(t, 1)
	go func() {
		for _, part := range []string{"cmd=get_ap", "pnum", "\ncmd=get_maxes\ncmd=get_universe_size\n"} {
			_, _ = conns[0].Write([]byte(part))
		}
	}()
	lines := bufio.NewReader(conns[0])
	for _, want := range []string{"appnum", "maxes", "universe_size"} {
		reply, err := lines.ReadString('\n')
		require.NoError(t, err)
		assert.Contains(t, reply, want)
	}
}

func TestTooLongLine(t *testing.T) {
	events, conns := serve(t, 2)
	assert.Equal(t, "cmd=error rc=-1 msg=line_too_long", ask(t, conns[1], strings.Repeat("x", 1<<20)))
	assert.Equal(t, "cmd=appnum appnum=1", ask(t, conns[1], "cmd=get_appnum"))
	assert.Equal(t, "cmd=appnum appnum=0", ask(t, conns[0], "cmd=get_appnum"))
	assert.Contains(t, events.all(), "warning 1 PMI request longer than")
}

func TestDisconnect(t *testing.T) {
	events, conns := serve(t, 3)
	ask(t, conns[0], "cmd=init pmi_version=1 pmi_subversion=1")
	conns[0].Close()
	events.await(t, "disconnected 0")
	conns[1].Close() // never said init: nothing to report
	ask(t, conns[2], "cmd=init pmi_version=1 pmi_subversion=1")
	_, err := conns[2].Write([]byte("cmd=barr"))
	require.NoError(t, err)
	conns[2].Close()
	events.await(t, "disconnected 2")
	assert.Contains(t, events.all(), "warning 2 PMI connection ended in the middle of a request")
	assert.NotContains(t, events.all(), "disconnected 1")
}

func TestAbort(t *testing.T) {
	for request, want := range map[string]string{
		"cmd=abort exitcode=37":                          `abort 0 37 ""`,
		"cmd=abort exitcode=300 message=out of memory":   `abort 0 300 "out of memory"`,
		"cmd=abort exit_code=4 error_msg=bad input file": `abort 0 4 "bad input file"`,
		"cmd=abort": `abort 0 1 ""`,
	} {
		events, conns := serve(t, 1)
		_, err := conns[0].Write([]byte(request + "\n"))
		require.NoError(t, err)
		events.await(t, want)
	}
}

// A trace shows no value of a key that ends in "secret": not as it is put, and not to whom it is told, here or on another host.
func TestTraceHidesSecrets(t *testing.T) {
	here, there := newKVS(testKVS), newKVS(testKVS)
	for message, want := range map[string]string{
		"cmd=put kvsname=kvs_1 key=my-secret value=0123":     "cmd=put kvsname=kvs_1 key=my-secret value=(hidden)",
		"cmd=kvs-put;key=my-secret;value=0123;":              "cmd=kvs-put;key=my-secret;value=(hidden);",
		"cmd=put kvsname=kvs_1 key=address value=0123":       "cmd=put kvsname=kvs_1 key=address value=0123",
		"cmd=get kvsname=kvs_1 key=my-secret":                "cmd=get kvsname=kvs_1 key=my-secret",
		"cmd=get_result rc=0 msg=success value=tcp://a:0124": "cmd=get_result rc=0 msg=success value=tcp://a:0124",
	} {
		assert.Equal(t, want, here.hide(message))
	}
	entries := []Entry{{testKVS, "my-secret", "0123"}, {testKVS, "no-secret", ""}, {testKVS, "address", "tcp://a:0124"}}
	require.True(t, here.put(entries[0]))
	there.merge(entries)
	for _, k := range []*kvs{here, there} {
		assert.Equal(t, "cmd=get_result rc=0 msg=success value=(hidden)", k.hide("cmd=get_result rc=0 msg=success value=0123"))
		assert.Equal(t, "value=tcp://a:0124", k.hide("value=tcp://a:0124"))
	}
}
