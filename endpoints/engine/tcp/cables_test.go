// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

const rankVariable = "TCP_TEST_RANK"

// The test binary is also a process of two that cables join, or of many that talk.
func TestMain(m *testing.M) {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	var err error
	if rank, failed := strconv.Atoi(os.Getenv(rankVariable)); failed == nil {
		err = onCables(rank, input)
	} else if words := os.Getenv(talkVariable); words != "" {
		err = talkAsProcess(words, input)
	} else {
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const (
	cableMessage = 4 << 20
	lastMessage  = 7 // the tag of the one that is empty
)

// onCables sends numbered messages until it is told to end, as rank 0, or checks them, as rank 1. It says how many rails it has
// after each.
func onCables(rank int, input *bufio.Scanner) error {
	input.Scan() // the cables are there
	var peers []Peer
	for i := range 2 {
		peers = append(peers, Peer{First: i, Ports: 1, Address: fmt.Sprintf("10.77.0.%d:7000", 1+i), Rails: []string{fmt.Sprintf("10.77.1.%d:7000", 1+i)}})
	}
	first, err := Listen(peers[rank].Address)
	if err != nil {
		return err
	}
	second, err := Listen(peers[rank].Rails[0])
	if err != nil {
		return err
	}
	fmt.Println("listens")
	input.Scan() // so does the other
	n, err := Join(context.Background(), first, Options{
		Peers: peers, Process: rank, Secret: secret, Patience: 10 * time.Second, Rails: []*net.TCPListener{second},
	})
	if err != nil {
		return err
	}
	if rank == 0 {
		err = sendByCables(n, input)
	} else {
		err = checkFromCables(n.port(1))
	}
	return errors.Join(err, n.Close())
}

func sendByCables(n *Node, input *bufio.Scanner) error {
	end := make(chan struct{})
	go func() { input.Scan(); close(end) }()
	p, l := n.port(0), n.links[1]
	for number := 0; ; number++ {
		buf, tag := carriertest.Filled(cableMessage, number), int32(0)
		select {
		case <-end:
			buf, tag = nil, lastMessage
		default:
		}
		how, err := p.Send(1, 0, tag, buf, 1)
		if err != nil {
			return err
		}
		if tag == lastMessage {
			fmt.Println("messages", number)
			return nil
		}
		var e carrier.Event
		for how == carrier.Pending && e.Kind != carrier.Sent {
			if p.Poll(&e) {
				if e.Lost || e.Kind == carrier.Gone {
					return fmt.Errorf("message %d is lost: %w", number, n.Gone(1))
				}
				continue
			}
			time.Sleep(100 * time.Microsecond)
		}
		rails := 0
		l.out.Lock()
		for i := range l.out.rails {
			if l.out.rails[i].socket >= 0 {
				rails++
			}
		}
		l.out.Unlock()
		fmt.Println("rails", rails)
	}
}

func checkFromCables(p *Port) error {
	got := make([]byte, cableMessage)
	for number := 0; ; {
		var e carrier.Event
		if !p.Poll(&e) {
			time.Sleep(100 * time.Microsecond)
			continue
		}
		switch e.Kind {
		case carrier.Gone:
			return p.node.Gone(0)
		case carrier.Arrived:
			if e.Cell.Tag == lastMessage {
				fmt.Println("messages", number)
				return nil
			}
			if _, err := p.Fetch(&e.Cell, got, 2); err != nil {
				return err
			}
		case carrier.Received:
			if e.Lost || !bytes.Equal(got, carriertest.Filled(cableMessage, number)) {
				return fmt.Errorf("message %d has other bytes than were sent", number)
			}
			number++
		}
	}
}

// A host is a process with a network namespace of its own.
type host struct{ *carriertest.Process }

// startHost starts a host with a rank.
func startHost(t *testing.T, rank int) host {
	t.Helper()
	p, err := carriertest.StartIn(t, unix.CLONE_NEWNET, fmt.Sprintf("%s=%d", rankVariable, rank))
	if err != nil {
		t.Skipf("a network namespace takes root: %v", err)
	}
	return host{p}
}

// in runs a command in its namespace.
func (h host) in(t *testing.T, words string) {
	t.Helper()
	argv := append([]string{"nsenter", "-t", strconv.Itoa(h.PID()), "-n", "--"}, strings.Fields(words)...)
	_, said, code := testsupport.Run(t, carriertest.Within, nil, argv...)
	require.Zero(t, code, "%s: %s", words, said)
}

// Two cables join two hosts. One or the other is out of order for a while, in the midst of messages: the one by which
// the stream goes, too. All messages come, by the other one, and the rail comes back.
func TestCableIsOut(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "ip", "tc", "nsenter")
	hosts := []host{startHost(t, 0), startHost(t, 1)}
	for cable := range 2 {
		hosts[0].in(t, fmt.Sprintf("ip link add eth%d type veth peer name eth%[1]d netns %d", cable, hosts[1].PID()))
		for rank, h := range hosts {
			h.in(t, fmt.Sprintf("ip addr add 10.77.%d.%d/24 dev eth%[1]d", cable, 1+rank))
			h.in(t, fmt.Sprintf("ip link set eth%d up", cable))
			h.in(t, fmt.Sprintf("tc qdisc add dev eth%d root tbf rate 200mbit burst 128kb latency 20ms", cable))
		}
	}
	for _, step := range []string{"listens", ""} {
		for _, h := range hosts {
			_, err := fmt.Fprintln(h.Input)
			require.NoError(t, err)
		}
		for _, h := range hosts {
			if step != "" {
				h.Until(step)
			}
		}
	}
	for cable, rank := range []int{1, 0} {
		hosts[0].Until("rails 2")
		hosts[rank].in(t, fmt.Sprintf("ip link set eth%d down", cable))
		hosts[0].Until("rails 1")
		hosts[rank].in(t, fmt.Sprintf("ip link set eth%d up", cable))
	}
	hosts[0].Until("rails 2")
	_, err := fmt.Fprintln(hosts[0].Input)
	require.NoError(t, err)
	require.Equal(t, hosts[0].Until("messages"), hosts[1].Until("messages"))
	for _, h := range hosts {
		h.Wait()
	}
}
