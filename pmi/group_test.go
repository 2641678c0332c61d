// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The requests and replies are those of a client under Hydra 5.0.1 with hosts a:2,b:2, but for the plain barrier's, which
// are Hydra 4.0's.
func TestGroupBarriers(t *testing.T) {
	conns := serveHosts(t, Ranks{0, 1}, Ranks{2, 3})
	group := func(ranks string) []string {
		return []string{
			"cmd=barrier_in group=" + ranks + ":7", "cmd=barrier_out tag=7",
			"cmd=barrier_in group=NODE:0", "cmd=barrier_out tag=0",
			"cmd=barrier_in group=WORLD:9", "cmd=barrier_out tag=9",
			"cmd=barrier_in", "cmd=barrier_out",
		}
	}
	var ranks sync.WaitGroup
	for rank, conn := range conns {
		ranks.Go(func() {
			ask(t, conn, "cmd=init pmi_version=1 pmi_subversion=1")
			ask(t, conn, fmt.Sprintf("cmd=put kvsname=kvs_1 key=g%d value=val%d", rank, rank))
			talk := group([]string{"0,2", "1,3"}[rank%2])
			for i := 0; i < len(talk); i += 2 {
				assert.Equal(t, talk[i+1], ask(t, conn, talk[i]))
				peer := (rank + 2) % 4 // on the other host
				want := fmt.Sprintf("cmd=get_result rc=0 msg=success value=val%d", peer)
				assert.Equal(t, want, ask(t, conn, fmt.Sprintf("cmd=get kvsname=kvs_1 key=g%d", peer)))
			}
			for peer := range conns { // a barrier of some does not keep their puts from the others
				want := fmt.Sprintf("cmd=get_result rc=0 msg=success value=val%d", peer)
				assert.Equal(t, want, ask(t, conn, fmt.Sprintf("cmd=get kvsname=kvs_1 key=g%d", peer)))
			}
		})
	}
	ranks.Wait()
}

// A rank that enters the same barrier twice does not stand in for another one.
func TestSameBarrierTwice(t *testing.T) {
	conns := serveHosts(t, Ranks{0}, Ranks{1})
	go func() {
		_, _ = conns[0].Write([]byte(strings.Repeat("cmd=barrier_in group=0,1:5\n", 2) + "cmd=get_appnum\n"))
	}()
	assert.Equal(t, "cmd=appnum appnum=0", readLine(t, conns[0]), "rank 1 is not there")
	var other sync.WaitGroup
	other.Go(func() {
		for range 2 {
			assert.Equal(t, "cmd=barrier_out tag=5", readLine(t, conns[0]))
		}
	})
	for range 2 {
		assert.Equal(t, "cmd=barrier_out tag=5", ask(t, conns[1], "cmd=barrier_in group=0,1:5"))
	}
	other.Wait()
}

// What the ranks of a group have told each other reaches the others with the barrier of the world.
func TestPutsAfterGroupBarrier(t *testing.T) {
	conns := serveHosts(t, Ranks{0}, Ranks{1}, Ranks{2})
	ask(t, conns[0], "cmd=put kvsname=kvs_1 key=k value=v")
	var ranks sync.WaitGroup
	for rank, conn := range conns {
		ranks.Go(func() {
			if rank < 2 {
				assert.Equal(t, "cmd=barrier_out tag=5", ask(t, conn, "cmd=barrier_in group=0,1:5"))
			}
			assert.Equal(t, "cmd=barrier_out", ask(t, conn, "cmd=barrier_in"))
			assert.Equal(t, "cmd=get_result rc=0 msg=success value=v", ask(t, conn, "cmd=get kvsname=kvs_1 key=k"))
		})
	}
	ranks.Wait()
}

// A rank is in several barriers of a group at once, and may enter one again before the others have left it.
func TestOutstandingBarriers(t *testing.T) {
	conns := serveHosts(t, Ranks{0, 1}, Ranks{2, 3})
	const in = "cmd=barrier_in group=1,3:"
	var ranks sync.WaitGroup
	for _, rank := range []int{1, 3} {
		ranks.Go(func() {
			order := []string{"11", "12", "11", "12", "11"}
			if rank == 3 {
				order = []string{"12", "12", "11", "11", "11"}
			}
			go func() { _, _ = fmt.Fprintf(conns[rank], "%s%s\n", in, strings.Join(order, "\n"+in)) }()
			got := map[string]int{}
			for range order {
				got[readLine(t, conns[rank])]++
			}
			assert.Equal(t, map[string]int{"cmd=barrier_out tag=11": 3, "cmd=barrier_out tag=12": 2}, got)
		})
	}
	ranks.Wait()
	for _, request := range []string{"0,2:1", "1,9:1", "ALL:0", ":", "-1,1:0", "1;3:0"} {
		assert.Equal(t, "cmd=barrier_out rc=-1 msg=bad_group", ask(t, conns[1], "cmd=barrier_in group="+request), request)
	}
	assert.Equal(t, "cmd=barrier_out tag=1", ask(t, conns[1], "cmd=barrier_in group=1:1"), "a group of one")
}

// What a rank may leave open is bounded, and the job goes on.
func TestTooManyBarriers(t *testing.T) {
	_, conns := serve(t, 2)
	go func() {
		for tag := range maxWaits + 1 {
			_, _ = fmt.Fprintf(conns[0], "cmd=barrier_in group=0,1:%d\n", tag)
		}
	}()
	assert.Equal(t, "cmd=barrier_out rc=-1 msg=too_many_barriers", readLine(t, conns[0]))
	assert.Equal(t, "cmd=appnum appnum=0", ask(t, conns[0], "cmd=get_appnum"))
}

func readLine(t *testing.T, conn net.Conn) string {
	t.Helper()
	reply, err := bufio.NewReaderSize(conn, 1).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSuffix(reply, "\n")
}
