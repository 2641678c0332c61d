// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
)

// pmiProbe is a PMI client that sends its arguments, one request each, and prints the last line of each reply. A request
// that ends with a semicolon is one of PMI-2. KVS and RANK in a request stand for the rank's own. An argument "-RANK REQUEST" is of
// that rank alone.
func pmiProbe() {
	p := probeClient{rank: os.Getenv("PMI_RANK") + os.Getenv("PMI_ID")}
	if err := p.connect(); err != nil {
		p.fail(err)
	}
	for _, request := range os.Args[1:] {
		if only, rest, _ := strings.Cut(request, " "); strings.HasPrefix(only, "-") {
			if only != "-"+p.rank {
				continue
			}
			request = rest
		}
		if err := p.ask(request); err != nil {
			p.fail(err)
		}
	}
}

type probeClient struct {
	conn      io.ReadWriter
	rank, kvs string
}

func (p *probeClient) fail(err error) {
	fmt.Fprintf(os.Stderr, "pmiprobe: rank %s: %v\n", p.rank, err)
	os.Exit(3)
}

func (p *probeClient) connect() (err error) {
	if port := os.Getenv("PMI_PORT"); port != "" {
		p.conn, err = net.Dial("tcp", port)
		return err
	}
	fd, err := strconv.Atoi(os.Getenv("PMI_FD"))
	p.conn = os.NewFile(uintptr(fd), "PMI_FD")
	return err
}

func (p *probeClient) ask(request string) error {
	if !strings.HasPrefix(request, "mcmd=") { // what a spawned program gets is its own
		request = strings.NewReplacer("KVS", p.kvs, "RANK", p.rank).Replace(request)
	}
	isPMI2 := strings.HasSuffix(request, ";")
	if isPMI2 {
		request = fmt.Sprintf("%6d%s", len(request), request)
	} else {
		request += "\n"
	}
	if _, err := io.WriteString(p.conn, request); err != nil {
		return err
	}
	lines := 1
	if strings.HasPrefix(request, "cmd=initack") {
		lines = 4
	}
	var reply string
	var err error
	for range lines {
		if reply, err = p.read(isPMI2); err != nil {
			return fmt.Errorf("reply to %s: %w", request, err)
		}
	}
	fmt.Println(reply)
	if name, found := strings.CutPrefix(reply, "cmd=my_kvsname kvsname="); found {
		p.kvs = name
	}
	return nil
}

func (p *probeClient) read(isPMI2 bool) (string, error) {
	if !isPMI2 {
		var line []byte
		for b := make([]byte, 1); ; line = append(line, b...) {
			if _, err := io.ReadFull(p.conn, b); err != nil || b[0] == '\n' {
				return string(line), err
			}
		}
	}
	prefix := make([]byte, 6)
	if _, err := io.ReadFull(p.conn, prefix); err != nil {
		return "", err
	}
	length, err := strconv.Atoi(strings.TrimSpace(string(prefix)))
	if err != nil {
		return "", err
	}
	body := make([]byte, length)
	_, err = io.ReadFull(p.conn, body)
	return string(body), err
}
