// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/pmi"
)

// ServeSingleton is PMI's server for a program that was started alone and turns out to need one. Such a program listens on a
// port of this host and runs mpiexec -pmi_args, which says who it is and then serves one ordinary session. It returns
// mpiexec's exit code.
func ServeSingleton(opts hydra.PMIOptions, kvsName string) (int, error) {
	conn, err := net.DialTimeout("tcp4", "127.0.0.1:"+opts.Singleton[0], identifyLimit)
	if err == nil {
		err = checkOwner(conn)
	}
	if err == nil {
		err = greetSingleton(conn, kvsName)
	}
	if err != nil {
		return 0, fmt.Errorf("serve process %s, which started alone: %w", opts.Singleton[3], err)
	}
	var trace pmi.Tracer
	if opts.Trace {
		trace = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	alone := &singleton{conn: conn}
	world := pmi.World{Size: 1, KVSName: kvsName, Mapping: pmi.Mapping([]int{0}), AllocKinds: opts.AllocKinds}
	server := pmi.NewServer(world, pmi.AllRanks(1), aloneRoot{pmi.NewGather(1, pmi.AllRanks(1), nil), new(pmi.Names)}, alone, trace)
	defer server.Close()
	server.Serve(0, 0, conn)
	return alone.code, nil
}

// greetSingleton agrees with the program on version 1 of PMI and names its key-value space.
func greetSingleton(conn net.Conn, kvsName string) error {
	_ = conn.SetDeadline(time.Now().Add(identifyLimit)) // fails only on a closed connection
	if _, err := io.WriteString(conn, "cmd=singinit authtype=none\n"); err != nil {
		return err
	}
	line, err := readShortLine(conn)
	if err != nil {
		return err
	}
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "cmd=singinit" || !strings.Contains(line, " pmi_version=1 ") || !strings.Contains(line, "authtype=none") {
		return fmt.Errorf("it answered %q", line)
	}
	if _, err := fmt.Fprintf(conn, "cmd=singinit_info versionok=yes stdio=no kvsname=%s\n", kvsName); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// readShortLine reads a line and nothing behind it, which belongs to the session.
func readShortLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < 256; {
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[0])
	}
	return "", errors.New("it answered more than a line")
}

// An aloneRoot is all there is of the job of such a program.
type aloneRoot struct {
	*pmi.Gather
	*pmi.Names
}

// Spawn refuses: the new world would need a job, with hosts and outputs, around a program that is no part of one.
func (aloneRoot) Spawn(pmi.SpawnRequest) pmi.SpawnReply {
	const text = "a program that was started without mpiexec cannot spawn; start it with mpiexec -n 1"
	fmt.Fprintln(os.Stderr, "mpiexec: spawn:", text)
	return pmi.SpawnReply{Error: text}
}

// A singleton is told what the one program does. Its end is its own affair: mpiexec just leaves.
type singleton struct {
	conn net.Conn
	code int
}

func (s *singleton) Initialized(int)           { /* it runs already */ }
func (s *singleton) Finalized(int)             { /* its session ends */ }
func (s *singleton) Disconnected(int)          { /* its session ends */ }
func (s *singleton) Warned(_ int, text string) { fmt.Fprintln(os.Stderr, "mpiexec:", text) }

// Aborted ends the session: the program ends itself.
func (s *singleton) Aborted(_, code int, _ string) {
	s.code = code & 0xff
	s.conn.Close()
}
