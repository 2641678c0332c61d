// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
)

// maxPuts bounds what one rank may store, so that a runaway rank cannot exhaust the server.
const maxPuts = 64 << 20

// A session is the server's end of one rank's connection. It runs on one goroutine, and waits for barriers on
// another.
type session struct {
	server *Server
	rank   int
	appnum int
	conn   io.ReadWriteCloser

	inBarrier atomic.Bool
	writing   sync.Mutex
	closed    bool // guarded by writing

	initialized, finalized, aborted bool
	pending                         []Entry // puts since the last barrier
	stored                          int     // bytes of all puts
	warned                          map[string]bool
}

func (s *session) run() {
	defer s.close()
	lines := newLineReader(s.conn)
	for !s.finalized {
		line, err := lines.next()
		if err == nil {
			err = s.serve(line, lines)
		} else if errors.Is(err, errTooLong) {
			err = s.refuse("too long", fmt.Sprintf("PMI request longer than %d bytes", maxRequest), "error", "line_too_long")
		}
		if err != nil {
			s.end(err)
			return
		}
	}
	s.server.events.Finalized(s.rank)
}

// end reports why the session stopped before finalize.
func (s *session) end(err error) {
	switch {
	case errors.Is(err, errPMI2):
		s.warn("PMI-2", "PMI-2 is not served; set PMI_VERSION=1 or link an MPI library that speaks PMI-1")
		body := "cmd=error-response;rc=-1;errmsg=PMI-2 is not served;"
		_, _ = fmt.Fprintf(s.conn, "%6d%s", len(body), body)
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.warn("half line", "PMI connection ended in the middle of a request")
	}
	if s.initialized && !s.aborted {
		s.server.events.Disconnected(s.rank)
	}
}

// serve answers one line. An error is one of the connection: the session cannot go on.
func (s *session) serve(line string, lines *lineReader) error {
	s.server.log.Debug("pmi", "rank", s.rank, "from", line)
	if strings.TrimSpace(line) == "" {
		return nil
	}
	msg, err := Parse(line)
	if err != nil {
		return s.refuse("no command", "PMI request without a command: "+quote(line), "error", "no_command")
	}
	if msg.Multi {
		if err := lines.skipBlock(); err != nil {
			return err
		}
	}
	handle, found := commands[msg.Command]
	if !found || msg.Multi != (msg.Command == "spawn") {
		text := "unknown PMI command " + quote(msg.Command)
		return s.refuse(text, text, replyName(msg.Command)+"_result", "unknown_cmd")
	}
	return s.reply(handle(s, msg))
}

// refuse answers rc=-1 and warns once per topic.
func (s *session) refuse(topic, text, name, reason string) error {
	s.warn(topic, text)
	return s.reply(fmt.Sprintf("cmd=%s rc=-1 msg=%s", name, reason))
}

func (s *session) warn(topic, text string) {
	const topics = 8 // a session that warns about everything is noise
	if s.warned[topic] || len(s.warned) == topics {
		return
	}
	if s.warned == nil {
		s.warned = map[string]bool{}
	}
	s.warned[topic] = true
	s.server.events.Warned(s.rank, text)
}

// reply sends one line; an empty one means no reply.
func (s *session) reply(line string) error {
	if line == "" {
		return nil
	}
	if len(line)+1 > maxReply {
		name, _, _ := strings.Cut(line, " ")
		line = name + " rc=-1 msg=reply_too_long"
	}
	s.server.log.Debug("pmi", "rank", s.rank, "to", line)
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return io.ErrClosedPipe
	}
	_, err := io.WriteString(s.conn, line+"\n")
	return err
}

func (s *session) close() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.closed = true
	_ = s.conn.Close() // the peer may be gone
}

func quote(s string) string {
	const most = 40
	if len(s) > most {
		return fmt.Sprintf("%q...", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// replyName returns a command name that is safe to send back.
func replyName(name string) string { return name[:min(len(name), KeyLenMax)] }
