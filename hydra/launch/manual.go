// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// manual prints a command line for each proxy, and the user or a script runs these lines. The channel is two named pipes in a
// folder that only the user can enter. So a line also works on another host when it is run by ssh.
type manual struct {
	proxy string // its command, for a shell
	dir   string // has the pipes of all proxies
}

func newManual(opts Options) (Launcher, error) {
	path, err := self(opts.Hybrid)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mpiexec")
	if err != nil {
		return nil, fmt.Errorf("make folder for -launcher manual: %w", err)
	}
	return &manual{quote(path) + " " + ProxyArg, dir}, nil
}

// Expect makes the pipes and prints the lines, in Hydra's form.
func (m *manual) Expect(hosts []Host) error {
	for _, host := range hosts {
		in, out := m.pipes(host)
		if err := errors.Join(unix.Mkfifo(in, 0o600), unix.Mkfifo(out, 0o600)); err != nil {
			return fmt.Errorf("make pipes for -launcher manual: %w", err)
		}
		fmt.Printf("HYDRA_LAUNCH: %s <%s >%s\n", m.proxy, quote(in), quote(out))
	}
	fmt.Println("HYDRA_LAUNCH_END")
	return nil
}

func (m *manual) pipes(host Host) (in, out string) {
	name := filepath.Join(m.dir, fmt.Sprint(host.ID))
	return name + ".in", name + ".out"
}

// Close implements io.Closer. It removes the pipes.
func (m *manual) Close() error { return os.RemoveAll(m.dir) }

// Start implements Launcher. Both pipes are held open until the proxy has opened them.
func (m *manual) Start(host Host) (Remote, error) {
	inPath, outPath := m.pipes(host)
	in, err := os.OpenFile(inPath, os.O_RDWR, 0)
	if err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Name, err)
	}
	hold, err := os.OpenFile(outPath, os.O_RDWR, 0)
	if err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Name, err)
	}
	out, err := os.OpenFile(outPath, os.O_RDONLY, 0)
	if err != nil {
		return Remote{}, fmt.Errorf("start proxy on %s: %w", host.Name, err)
	}
	r := &pipeReader{out: out, hold: hold}
	over := sync.OnceFunc(func() { in.Close(); hold.Close(); out.Close() })
	return Remote{In: in, Out: r, Wait: func() error { over(); return nil }, Kill: over}, nil
}

// A pipeReader reads a named pipe. It holds the other end open until somebody has written, so that the reader sees no end of file
// before.
type pipeReader struct {
	out  io.Reader
	hold io.Closer
}

// Read implements io.Reader.
func (r *pipeReader) Read(b []byte) (int, error) {
	n, err := r.out.Read(b)
	if r.hold != nil {
		r.hold.Close()
		r.hold = nil
	}
	return n, err
}
