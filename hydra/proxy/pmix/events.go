// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmix

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
)

var errHelperGone = errors.New("its helper lib/tpsl/pmix ended")

// await reads the variables of all ranks, up to the line "ready".
func (s *Server) await() error {
	for {
		line, err := s.lines.ReadString('\n')
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("its helper lib/tpsl/pmix did not start within %v", startLimit)
		}
		if err != nil {
			return s.said.explain(withStackLimit(errHelperGone), "libpmix.so.2", "it needs the package libpmix2")
		}
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch verb {
		case "env":
			first, setting, _ := strings.Cut(rest, " ")
			if rank, err := strconv.Atoi(first); err == nil {
				s.env[rank] = append(s.env[rank], setting)
			}
		case "error":
			return errors.New(rest)
		case "ready":
			s.said.late.Store(true)
			for rank := range s.env {
				s.env[rank] = append(s.env[rank], nativeLaunch)
			}
			return s.output.SetReadDeadline(time.Time{})
		}
	}
}

// withStackLimit adds the limit of stacks to an error where it may be the cause. libpmix of Debian 12 dies of 200 KiB.
func withStackLimit(err error) error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_STACK, &limit) != nil || limit.Cur >= 1<<20 {
		return err
	}
	return fmt.Errorf("%w; stacks are limited to %d KiB, which may be too little for it: raise the limit (ulimit -s)", err, limit.Cur>>10)
}

// Serve handles what the helper writes, until it ends.
func (s *Server) Serve() {
	defer close(s.ended)
	why := errHelperGone
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			break
		}
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		first, more, _ := strings.Cut(rest, " ")
		if rank, err := strconv.Atoi(first); verb == "error" {
			why = errors.New(rest)
		} else if err == nil && s.env[rank] != nil {
			s.event(verb, rank, more)
		} else {
			s.call(verb, strings.Fields(rest))
		}
	}
	if !s.closed.Load() {
		s.events.Gone(fmt.Errorf("serve PMIx on %s: %w", s.host.Name, why))
	}
}

func (s *Server) event(verb string, rank int, rest string) {
	switch verb {
	case "connected":
		s.events.Initialized(rank)
	case "finalized":
		s.events.Finalized(rank)
		if !s.gone[rank] {
			s.gone[rank] = true
			s.events.Left(rank)
		}
	case "abort":
		status, text, _ := strings.Cut(rest, " ")
		code, err := strconv.Atoi(status)
		if err != nil {
			code = 1
		}
		s.conn.SendValue(channel.Aborted, channel.Abort{Rank: rank, Code: code, Text: text, Unsaid: true})
	}
}

// Close ends the helper. The proxy kills it if it does not end.
func (s *Server) Close() {
	if s != nil {
		s.closed.Store(true)
		s.gather.Close()
		s.stdin.Close()
	}
}

// Drain waits until everything that ranks have logged has been passed on. Preconditions: no process of the helper is left.
func (s *Server) Drain() {
	if s != nil {
		<-s.ended
		<-s.shown
	}
}

// Remove removes the files of the helper and its clients. Preconditions: no process of theirs is left.
func (s *Server) Remove() {
	if s != nil {
		_ = os.RemoveAll(s.folder) // most often the helper has removed it
	}
}
