// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// stranger is the environment variable that makes this test program a process of another user. It takes names, or connects to one.
const stranger = "TPSL_TEST_STRANGER"

func TestMain(m *testing.M) {
	if address := os.Getenv(stranger); address != "" {
		beStranger(&net.UnixAddr{Net: "unixpacket", Name: address})
	}
	if os.Getenv(counting) != "" {
		count()
	}
	os.Exit(m.Run())
}

// beStranger takes the name, or makes a donation there, and stays until stdin ends.
func beStranger(address *net.UnixAddr) {
	if listener, err := net.ListenUnix(address.Net, address); err == nil {
		go func() {
			for {
				if _, err := listener.Accept(); err != nil {
					return
				}
			}
		}()
	} else if conn, err := net.DialUnix(address.Net, nil, address); err != nil || (donation{Rank: 99, Local: 1}).send(conn, 0, 0, 1, 2) != nil {
		os.Exit(1)
	}
	os.Stdout.Write([]byte("ready"))
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// meet starts a stranger at an address.
func meet(t *testing.T, address *net.UnixAddr) {
	t.Helper()
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("another user's processes take root, and CI must have it")
		}
		t.Skip("another user's processes take root")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("/proc/self/fd/3")
	program, err := os.Open(self) // its folder may be closed to other users
	require.NoError(t, err)
	defer program.Close()
	cmd.ExtraFiles = []*os.File{program}
	cmd.Env = append(os.Environ(), stranger+"="+address.Name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, Pdeathsig: unix.SIGKILL}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	_, err = out.Read(make([]byte, 5))
	require.NoError(t, err)
}

// pairOf makes a leader and a donor of a job of its own.
func pairOf(t *testing.T) (leader, donor *Member) {
	t.Helper()
	server := fmt.Sprintf("%s %d", t.Name(), os.Getpid()) // names are visible in the whole machine
	leader = &Member{Rank: 4, Size: 8, local: 0, localRanks: 2, server: server}
	donor = &Member{Rank: 5, Size: 8, local: 1, localRanks: 2, server: server}
	for _, m := range []*Member{leader, donor} {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		t.Cleanup(func() { closeAll(fds[:]) })
		m.session = fds[0]
	}
	return leader, donor
}

var request = Request{PerProcess: 2, Args: []string{"program"}, Wait: 30 * time.Second}

// give is a donor's part up to the donation.
func give(m *Member, r Request) (*net.UnixConn, error) {
	conn, err := m.findLeader(r)
	if err != nil {
		return nil, err
	}
	return conn, donation{Rank: m.Rank, Local: m.local, Digest: r.digest(), Command: r.command()}.send(conn, m.descriptors()...)
}

// A process of another user that listens at a name of the set gets nothing. One that connects first does not stop the donors. The
// leader's name cannot be known before it listens, so no other process can take it.
func TestStrangers(t *testing.T) {
	leader, donor := pairOf(t)
	before, err := leader.listen(2)
	require.NoError(t, err)
	name := before.Addr().String()
	before.Close()
	meet(t, &net.UnixAddr{Net: network, Name: name})                   // listens
	meet(t, &net.UnixAddr{Net: network, Name: leader.prefix(2) + "0"}) // listens, too
	listener, err := leader.listen(2)
	require.NoError(t, err)
	assert.NotEqual(t, name, listener.Addr().String())
	addresses, err := donor.addresses(2)
	require.NoError(t, err)
	assert.Len(t, addresses, 3)
	meet(t, &net.UnixAddr{Net: network, Name: listener.Addr().String()}) // connects
	gave := make(chan error, 1)
	go func() {
		conn, err := give(donor, request)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
		}
		gave <- err
	}()
	require.NoError(t, listener.SetDeadline(time.Now().Add(request.Wait)))
	came := acceptDonations(listener, len(leader.descriptors()))
	p, err := came.next()
	came.close()
	require.NoError(t, err)
	defer p.drop()
	require.NoError(t, <-gave)
	assert.Equal(t, 5, p.Rank)
	assert.Len(t, p.fds, 4)
}

// A complete set is gathered, and the leader gets the donor's descriptors.
func TestGather(t *testing.T) {
	t.Run("PMI", func(t *testing.T) {
		leader, donor := pairOf(t)
		session := gatherPair(t, leader, donor)[3]
		var mine, given unix.Stat_t
		require.NoError(t, unix.Fstat(donor.session, &mine))
		require.NoError(t, unix.Fstat(session, &given))
		assert.Equal(t, mine.Ino, given.Ino)
	})
	t.Run("PMIx", func(t *testing.T) {
		leader, donor := pairOf(t)
		leader.session, donor.session = noSession, noSession
		assert.Len(t, gatherPair(t, leader, donor), 3)
	})
}

// gatherPair brings a leader and its donor together until the donor's end, and returns the descriptors that the donor has given.
func gatherPair(t *testing.T, leader, donor *Member) []int {
	t.Helper()
	gave := make(chan *net.UnixConn, 1)
	go func() {
		conn, _ := give(donor, request)
		gave <- conn
	}()
	parts, err := leader.gather(request)
	require.NoError(t, err)
	conn := <-gave
	defer conn.Close()
	require.Len(t, parts, 2)
	t.Cleanup(parts[1].drop)
	parts[1].tellStatus(7 << 8)
	status, err := donor.await(conn)
	require.NoError(t, err)
	assert.Equal(t, 7, status.ExitStatus())
	return parts[1].fds
}

// Peers of this user that connect first, and send nothing or part of a message, do not delay the donors.
func TestSilentPeers(t *testing.T) {
	leader, donor := pairOf(t)
	var there sync.WaitGroup
	for i := range 20 {
		there.Go(func() {
			conn, err := leader.findLeader(request)
			if !assert.NoError(t, err) {
				return
			}
			t.Cleanup(func() { conn.Close() })
			if i%2 == 1 {
				_, _ = conn.Write([]byte("half a word"))
			}
		})
	}
	go func() {
		there.Wait()
		conn, err := give(donor, request)
		if assert.NoError(t, err) {
			t.Cleanup(func() { conn.Close() })
		}
	}()
	began := time.Now()
	parts, err := leader.gather(request)
	require.NoError(t, err)
	assert.Less(t, time.Since(began), donationLimit)
	parts[1].drop()
}

func TestGatherErrors(t *testing.T) {
	other := request
	other.Args = []string{"another"}
	late := request
	late.Wait = 50 * time.Millisecond
	for name, c := range map[string]struct {
		leader, donor *Request
		place         int
		want          string
	}{
		"alone":      {&late, nil, 1, "of the 2 ranks of this host, counted from 0, number 1 has not come for 50ms; start all ranks with the same tpsl run -rpp 2"},
		"leaderless": {nil, &late, 1, "the first of its 2 ranks on this host, which is to lead them, has not come for 50ms; start all ranks with the same tpsl run -rpp 2"},
		"differ":     {&request, &other, 1, "ranks 4 and 5 would share a process, but one runs -rpp 2 program and the other -rpp 2 another; give each program a multiple of -rpp ranks per host"},
	} {
		t.Run(name, func(t *testing.T) {
			leader, donor := pairOf(t)
			errs := make(chan error, 2)
			if c.donor != nil {
				go func() {
					conn, err := give(donor, *c.donor)
					if conn != nil {
						t.Cleanup(func() { conn.Close() })
					}
					errs <- err
				}()
			}
			if c.leader == nil {
				assert.EqualError(t, <-errs, c.want)
				return
			}
			parts, err := leader.gather(*c.leader)
			assert.EqualError(t, err, c.want)
			for _, p := range parts {
				if p != nil {
					p.drop()
				}
			}
		})
	}
}
