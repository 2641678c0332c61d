// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
)

// roles are what this test binary does as a process of its own: it joins and does what its role says, until its input ends.
var roles = map[string]func(c carrier.Carrier, dimensions int, input *bufio.Scanner) error{
	// a child that only passes messages on
	"idle": func(c carrier.Carrier, dimensions int, input *bufio.Scanner) error {
		return play(c, Options{Dimensions: dimensions}, input, func() {})
	},
	// one that computes and never looks at the network, with a core left, and a processor of Go's for the network
	"computing": func(c carrier.Carrier, dimensions int, input *bufio.Scanner) error {
		threads := max(1, runtime.GOMAXPROCS(0)-1)
		runtime.GOMAXPROCS(threads + 1)
		return play(c, Options{Dimensions: dimensions}, input, computing(threads))
	},
	// the same on all cores
	"full": func(c carrier.Carrier, dimensions int, input *bufio.Scanner) error {
		threads := runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(threads + 1)
		return play(c, Options{Dimensions: dimensions}, input, computing(threads))
	},
	// the same without a processor of Go's for the network
	"crowded": func(c carrier.Carrier, dimensions int, input *bufio.Scanner) error {
		return play(c, Options{Dimensions: dimensions}, input, computing(runtime.GOMAXPROCS(0)))
	},
	// one that computes and has no goroutine of the network's
	"polling": func(c carrier.Carrier, dimensions int, input *bufio.Scanner) error {
		return play(c, Options{Dimensions: dimensions, Polled: true}, input, computing(1))
	},
}

// computing has so many threads compute until the process is told to end.
func computing(threads int) func() {
	var stop atomic.Bool
	var busy sync.WaitGroup
	for range threads {
		busy.Go(func() {
			for !stop.Load() {
			}
		})
	}
	return func() { stop.Store(true); busy.Wait() }
}

// play joins, and ends when the input does, with what was begun before.
func play(c carrier.Carrier, o Options, input *bufio.Scanner, end func()) error {
	n, err := Join(c, o)
	if err != nil {
		return err
	}
	fmt.Println("joined")
	for input.Scan() {
	}
	end()
	if o.Polled { // the first look after the computation
		for begin := time.Now(); time.Since(begin) < time.Second; n.Poll() {
		}
	}
	return n.Close()
}

const roleVariable = "SIGNAL_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := perform(strings.Fields(role)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// perform is the main function of a child: what it joins by is descriptor 3.
func perform(words []string) error {
	var rank, size, dimensions int
	if _, err := fmt.Sscan(strings.Join(words[2:5], " "), &rank, &size, &dimensions); err != nil {
		return err
	}
	file := os.NewFile(3, "to join by")
	var c carrier.Carrier
	var err error
	if words[1] == "shm" {
		c, err = shm.Join(context.Background(), file, shm.Options{First: rank, Ports: 1, Total: size, Cells: 2, Packet: 2 << 10})
	} else {
		var l net.Listener
		if l, err = net.FileListener(file); err == nil {
			var peers []tcp.Peer
			for i, address := range words[5:] {
				peers = append(peers, tcp.Peer{First: i, Ports: 1, Address: address})
			}
			var torus *Torus
			if torus, err = NewTorus(size, dimensions); err == nil {
				c, err = tcp.Join(context.Background(), l.(*net.TCPListener), tcp.Options{Peers: peersOf(torus, peers, rank), Process: rank, Secret: tcp.Secret{1}, AtStart: true})
			}
		}
	}
	if err != nil {
		return err
	}
	file.Close()
	return errors.Join(roles[words[0]](c, dimensions, bufio.NewScanner(os.Stdin)), c.Close())
}

// startChild starts such a process, which joins by a file.
func startChild(t testing.TB, file *os.File, words ...any) *carriertest.Process {
	t.Helper()
	return carriertest.Start(t, roleVariable+"="+strings.TrimSpace(fmt.Sprintln(words...)), file)
}
