// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// kinds are the processes that a job over hosts needs, by their command lines. ssh is twice there: TestKillAtRandom has the others.
var kinds = []struct{ name, line string }{
	{"ssh", "^ssh -x"}, {"ssh", "^ssh -x"}, {"sshd", "^sshd: root"}, {"proxy", `mpiexec \+proxy$`}, {"rank", "^[^ ]*far[^ ]*$"}, {"mpiexec", "mpiexec -"},
}

// Whatever is killed whenever of an MPI job on three hosts, on real hosts with ssh and the other end of it among them: the job
// ends soon, leaves nothing on any host, and tells who died. TPSL_TEST_LARGE=1 asks for 200 times.
func TestKillOnHosts(t *testing.T) {
	testsupport.NothingLeft(t)
	t.Setenv("UCX_NET_DEVICES", "eth0")
	hosts := testsupport.Hosts(t, "a", "b", "c")
	times := testsupport.Times(8, 200)
	program := testsupport.CC(t, "mpicc.mpich", "testdata/far.c")
	places := []string{"-hosts a,b,c", "-hosts b,c", "-hosts b,c -fanout 1"}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	life := limit
	for range 3 {
		began := time.Now()
		assert.Zero(t, from(t, hosts, places[2], program).code)
		life = min(life, time.Since(began))
	}
	ends := map[string]int{}
	for range times {
		place := places[random.IntN(len(places))]
		job := begin(t, hosts, place, program)
		time.Sleep(time.Duration(random.Int64N(int64(life))))
		victim := killOne(hosts, job.Process.Pid, random)
		killed := time.Now()
		code, said := job.end(t)
		assert.Less(t, time.Since(killed), soon, "seed %d, %s, %s killed: %s", seed, place, victim, said)
		assert.True(t, tells(victim, code, said), "seed %d, %s, %s killed, code %d: %s", seed, place, victim, code, said)
		ends[fmt.Sprintf("%s %d", victim, code)]++
	}
	t.Logf("life %v, killed and exit code: %v", life, ends)
}

// A proxy on another host that somebody has stopped goes on when mpiexec is killed, and ends its ranks.
func TestKillOnHostsOfStoppedProxy(t *testing.T) {
	testsupport.NothingLeft(t)
	hosts := testsupport.Hosts(t, "a", "b")
	job := begin(t, hosts, "-hosts b", "sleep", "60")
	job.await(t, 1, "^sleep 60$")
	require.NoError(t, unix.Kill(guests(hosts[1:], `^[^ ]*mpiexec \+proxy$`)[0], unix.SIGSTOP))
	require.NoError(t, unix.Kill(guests(hosts[:1], "mpiexec -hosts")[0], unix.SIGKILL))
	job.end(t)
}

// killOne kills a process of the job and says of which kind. The child of what the test has started is mpiexec, or about to be.
func killOne(hosts []testsupport.Host, started int, random *rand.Rand) string {
	for _, i := range random.Perm(len(kinds)) {
		pids := processes(hosts, kinds[i].line)
		if len(pids) == 0 {
			continue
		}
		pid := pids[random.IntN(len(pids))]
		isFirst := parent(pid) == started
		switch line, killed := testsupport.Kill(pid); {
		case killed && isFirst:
			return "mpiexec"
		case killed && regexp.MustCompile(kinds[i].line).MatchString(line):
			return kinds[i].name
		case killed:
			return "child" // that was about to become another program
		}
	}
	return "nothing"
}

// tells reports whether exit code and words tell the truth. Code 0 is that of a job that was over.
func tells(victim string, code int, said string) bool {
	lost := `mpiexec: (proxy on [abc] died \(.+\); ranks? [-,0-9]+ lost(, on [abc, ]+)?|host [abc]: .+)\n$`
	switch {
	case victim == "mpiexec":
		return slices.Contains([]int{-1, 137, 0}, code)
	case code == 0:
		return !strings.Contains(said, "mpiexec")
	case victim == "ssh":
		return code == 255 && regexp.MustCompile(lost).MatchString(said) && regexp.MustCompile("ssh was killed by SIGKILL").MatchString(said)
	case victim == "child" && code == 9, victim == "rank":
		return code == 9 && regexp.MustCompile(`mpiexec: rank [0-2] \(`).MatchString(said)
	}
	return code == 255 && regexp.MustCompile(lost).MatchString(said)
}
