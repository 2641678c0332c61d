// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/pmi"
)

// environment returns what an environment of these variables says.
func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

// Without a launcher a process is a job of its own.
func TestAlone(t *testing.T) {
	testsupport.NothingLeft(t)
	j, err := Start(context.Background(), engine.Options{Ports: 2})
	require.NoError(t, err)
	assert.Zero(t, j.First)
	assert.Equal(t, 2, j.Fabric.Size())
	require.NoError(t, j.Fabric.Port(0).Send([]byte("hello"), engine.Envelope{Peer: 1}))
	_, err = j.Fabric.Port(1).Recv(make([]byte, 5), engine.Envelope{Peer: 0})
	require.NoError(t, err)
	require.NoError(t, j.Close())
}

// A process whose launcher has ended leaves nothing behind.
func TestLauncherEnded(t *testing.T) {
	testsupport.NothingLeft(t)
	ours, launchers, err := shm.Socketpair()
	require.NoError(t, err)
	launchers.Close()
	peers := []tcp.Peer{{Ports: 1, Address: "here"}}
	listener, err := tcp.Listen("127.0.0.1:0")
	require.NoError(t, err)
	node, err := tcp.Join(context.Background(), listener, tcp.Options{Peers: peers})
	require.NoError(t, err)
	fabric, err := engine.New(engine.Options{Carrier: node})
	require.NoError(t, err)
	j := &Job{Fabric: fabric, carrier: node, session: &session{size: 1, file: ours, client: pmi.NewClient(ours)}}
	require.ErrorContains(t, j.Close(), "end a job: ")
	require.ErrorIs(t, node.Close(), os.ErrClosed)
	require.ErrorIs(t, fabric.Port(0).Send(nil, engine.Envelope{}), engine.ErrClosed)
	require.ErrorIs(t, ours.Close(), os.ErrClosed)
}

// A launcher that does not fit is an error, never a job of one.
func TestLaunchersThatDoNotFit(t *testing.T) {
	for want, variables := range map[string]map[string]string{
		"leave out -pmi-port":                 {"PMI_PORT": "localhost:1", "PMI_ID": "0"},
		"speaks PMIx":                         {"PMIX_RANK": "0"},
		"several ranks of the launcher, 2,3:": {"PMI_FD": "5,6", "PMI_RANK": "2,3", "PMI_SIZE": "4"},
		`PMI_SIZE="": want a number from 0`:   {"PMI_FD": "5", "PMI_RANK": "0"},
		"PMI_RANK is 4, but PMI_SIZE is 4":    {"PMI_FD": "5", "PMI_RANK": "4", "PMI_SIZE": "4"},
	} {
		_, err := begin(environment(variables))
		assert.ErrorContains(t, err, want)
	}
}

func TestConnections(t *testing.T) {
	for value, want := range map[string]bool{"": false, "demand": false, "start": true} {
		got, err := atStart(environment(map[string]string{"TPSL_CONNECTIONS": value}))
		require.NoError(t, err)
		assert.Equal(t, want, got, value)
	}
	t.Setenv("TPSL_CONNECTIONS", "all")
	_, err := Start(context.Background(), engine.Options{})
	assert.EqualError(t, err, `start a job: environment: TPSL_CONNECTIONS="all": want demand or start`)
}

func TestFar(t *testing.T) {
	for _, carrier := range []string{"", "tcp"} {
		got, err := readFar(environment(map[string]string{"TPSL_CARRIER": carrier}))
		require.NoError(t, err)
		assert.Equal(t, far{carrier: "tcp"}, got)
	}
	for want, variables := range map[string]map[string]string{
		`environment: TPSL_CARRIER="rdma": want tcp or verbs`:                                                 {"TPSL_CARRIER": "rdma"},
		`environment: TPSL_RDMA_PORT="rxe0:1" goes with TPSL_CARRIER=verbs only: set that, or leave this out`: {"TPSL_RDMA_PORT": "rxe0:1"},
		`environment: TPSL_RDMA_RAILS="2" goes with TPSL_CARRIER=verbs only: set that, or leave this out`:     {"TPSL_RDMA_RAILS": "2"},
		`environment: TPSL_RAILS does not go with TPSL_CARRIER=verbs: leave one of them out`:                  {"TPSL_CARRIER": "verbs", "TPSL_RAILS": "lo"},
		`environment: TPSL_CONNECTIONS=start does not go with TPSL_CARRIER=verbs: leave one of them out`:      {"TPSL_CARRIER": "verbs", "TPSL_CONNECTIONS": "start"},
	} {
		_, err := readFar(environment(variables))
		assert.EqualError(t, err, want)
	}
}

func TestCards(t *testing.T) {
	c := card{ports: 3, host: "00ff", name: "@tpsl-engine-X", carrier: "verbs", rails: 2, addresses: []string{"[fe80::1]:77", "10.0.0.1:78"}}
	got, err := parseCard(c.String())
	require.NoError(t, err)
	assert.Equal(t, c, got)
	for _, text := range []string{"", "1/2/3/4/5", "0/h/n/tcp/0/a", "x/h/n/tcp/0/a", "1/h/n/tcp/x/a", "1/h/n/tcp/-1/a", "1/h/n/verbs/2/a", "1/h/n/tcp/0/a/more"} {
		_, err := parseCard(text)
		assert.ErrorContains(t, err, "run the same version", text)
	}
}

// The table has all cards, in few characters, and names only where they are asked for.
func TestTable(t *testing.T) {
	var all, want []card
	for i := range 1000 {
		c := card{ports: 1 + i%3, host: fmt.Sprintf("%032x", sha256.Sum256([]byte{byte(i / 64)}))[:32], addresses: []string{fmt.Sprintf("10.0.0.%d:%d", i/64, 32768+i*7919%28000)}}
		if c.name = rand.Text(); i%64 == 0 {
			want = append(want, c)
		} else {
			want = append(want, card{c.ports, c.host, "", c.carrier, c.rails, c.addresses})
		}
		all = append(all, c)
	}
	text := pack(all)
	assert.Less(t, len(text), 10*pieceSize, "100 processes or more in a value")
	assert.NotContains(t, text, "=", "which has a meaning in PMI-1")
	got, err := unpack(text, 1000)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for text, count := range map[string]int{"": 1, "%%": 1, text[:len(text)/2]: 1000, text: 1001, text + "AAAA": 999} {
		_, err := unpack(text, count)
		assert.ErrorContains(t, err, "run the same version in all processes")
	}
}

// Whatever stands in the launcher's space is cards of so many processes, or an error.
func FuzzTable(f *testing.F) {
	f.Add(pack([]card{{1, "00ff", "@tpsl-engine-X", "tcp", 0, []string{"10.0.0.1:77"}}, {2, "00ff", "", "tcp", 0, []string{"10.0.0.1:78", "10.1.0.1:79"}}}), 2)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, count int) {
		if count < 0 || count > 1000 {
			return
		}
		all, err := unpack(text, count)
		if err != nil {
			return
		}
		require.Len(t, all, count)
		again, err := unpack(pack(all), count)
		require.NoError(t, err)
		for i, c := range all {
			require.Equal(t, []any{c.ports, c.host, c.addresses}, []any{again[i].ports, again[i].host, again[i].addresses})
		}
	})
}

// Rails are named by interface or by address, each once.
func TestRails(t *testing.T) {
	for rails, want := range map[string][]string{"lo": {"127.0.0.1"}, "127.0.0.1": {"127.0.0.1"}} {
		got, err := hostAddresses(environment(map[string]string{"TPSL_RAILS": rails}))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for rails, want := range map[string]string{
		"nothing0":     `environment: TPSL_RAILS="nothing0": "nothing0" is no network interface or address of this host: ip addr lists them`,
		"lo,":          `environment: TPSL_RAILS="lo,": "" is no network interface or address of this host: ip addr lists them`,
		"192.0.2.1":    `environment: TPSL_RAILS="192.0.2.1": 192.0.2.1 is no address of this host`,
		"lo,127.0.0.1": `environment: TPSL_RAILS="lo,127.0.0.1": 127.0.0.1 is there twice: name each network once`,
	} {
		_, err := hostAddresses(environment(map[string]string{"TPSL_RAILS": rails}))
		assert.EqualError(t, err, want)
	}
}

// The address is one of this host.
func TestHostAddress(t *testing.T) {
	for _, name := range []string{"", "no-such-host.invalid", "localhost", "192.0.2.1"} {
		a, err := hostAddress(environment(map[string]string{"PMI_HOSTNAME": name}))
		require.NoError(t, err)
		l, err := net.Listen("tcp", net.JoinHostPort(a, "0"))
		require.NoError(t, err, name)
		l.Close()
	}
	id, err := hostID()
	require.NoError(t, err)
	again, err := hostID()
	require.NoError(t, err)
	assert.Equal(t, id, again)
	assert.Len(t, id, 32)
}

// groupOf returns the processes of a host, in this process.
func groupOf(t *testing.T, processes ...int) (groups []*group) {
	t.Helper()
	for _, process := range processes {
		door, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: "@tpsl-engine-" + rand.Text()})
		require.NoError(t, err)
		t.Cleanup(func() { door.Close() })
		g := &group{processes: processes, self: process, secret: tcp.Secret{5}, door: door}
		if len(groups) == 0 {
			g.leader = door.Addr().String()
		} else {
			g.leader = groups[0].leader
		}
		groups = append(groups, g)
	}
	return groups
}

// Processes of a host meet, though strangers knock: some say nothing, some what is wrong, one
// comes twice.
func TestStrangersAtTheDoor(t *testing.T) {
	testsupport.NothingLeft(t)
	groups := groupOf(t, 1, 4, 5)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	wrong := groups[1].proof(4)
	wrong[10]++
	for _, says := range [][]byte{nil, []byte("hello"), make([]byte, 36), wrong, groups[0].proof(9), append(groups[1].proof(4), 0)} {
		c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Net: "unixpacket", Name: groups[0].leader})
		require.NoError(t, err)
		defer c.Close()
		if says != nil {
			_, err = c.Write(says)
			require.NoError(t, err)
		}
	}
	nodes, errs := make([]*shm.Node, len(groups)), make([]error, len(groups))
	var all sync.WaitGroup
	for i, g := range groups {
		all.Go(func() { nodes[i], errs[i] = g.join(ctx, shm.Options{First: 2 * g.self, Ports: 2, Total: 12}) })
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	assert.Equal(t, 6, nodes[0].Near())
	assert.True(t, nodes[0].Reaches(8))
	assert.False(t, nodes[0].Reaches(4), "of another host")
	for _, n := range nodes {
		require.NoError(t, n.Close())
	}
	for _, g := range groups {
		g.door.Close()
	}
}

// A process that does not come is named.
func TestAbsentNeighbour(t *testing.T) {
	groups := groupOf(t, 0, 3)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err := groups[0].join(ctx, shm.Options{Ports: 1, Total: 4})
	require.ErrorContains(t, err, "process 3 of this host did not come in time")
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	groups[0].door.Close()
	_, err = groups[1].join(ctx, shm.Options{First: 3, Ports: 1, Total: 4})
	require.ErrorContains(t, err, "meet the processes of this host")
}

// deaf takes what a launcher's server tells.
type deaf struct{}

func (deaf) Initialized(int)          {}
func (deaf) Finalized(int)            {}
func (deaf) Aborted(int, int, string) {}
func (deaf) Disconnected(int)         {}
func (deaf) Warned(int, string)       {}

// sessionsOf returns the sessions of a job's processes with its launcher, all in this process.
func sessionsOf(t *testing.T, size int) (sessions []*session) {
	server := pmi.NewServer(pmi.World{Size: size, KVSName: "kvs"}, pmi.AllRanks(size), nil, deaf{}, nil)
	var served sync.WaitGroup
	for rank := range size {
		ours, launchers := net.Pipe()
		served.Go(func() { server.Serve(rank, 0, launchers) })
		t.Cleanup(func() { ours.Close() })
		s := &session{rank: rank, size: size, client: pmi.NewClient(ours)}
		require.NoError(t, s.client.Init())
		sessions = append(sessions, s)
	}
	t.Cleanup(func() {
		for _, s := range sessions {
			assert.NoError(t, s.client.Finalize())
		}
		served.Wait()
	})
	return sessions
}

// A process may start later than the others by more than they have to meet.
func TestLateProcess(t *testing.T) {
	testsupport.NothingLeft(t)
	const limit = 2 * time.Second
	nodes, errs := make([]carrier.Carrier, 2), make([]error, 2)
	var all sync.WaitGroup
	for i, s := range sessionsOf(t, 2) {
		all.Go(func() {
			time.Sleep(time.Duration(i) * (limit + limit/10))
			nodes[i], errs[i] = meet(context.Background(), limit, s, 1, far{carrier: "tcp"})
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	for _, n := range nodes {
		require.NoError(t, n.Close())
	}
}

// The context's own deadline includes the wait for the others.
func TestDeadlineIncludesTheWait(t *testing.T) {
	ctx, cancel := context.WithDeadline(context.Background(), time.Now())
	defer cancel()
	errs := make([]error, 2)
	var all sync.WaitGroup
	for i, s := range sessionsOf(t, 2) {
		all.Go(func() { _, errs[i] = meet(ctx, time.Minute, s, 1, far{carrier: "tcp"}) })
	}
	all.Wait()
	for _, err := range errs {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}
