// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// maxPuts bounds what one rank may store, so that a runaway rank cannot exhaust the server.
const maxPuts = 64 << 20

var errUnanswered = errors.New("a reply could not be sent")

// maxWaits bounds how many of a rank's requests may wait for other ranks.
const maxWaits = 1024

// A session is the server's end of one rank's connection. It runs on one goroutine; replies to what waits for others
// come from theirs.
type session struct {
	server *Server
	rank   int
	appnum int
	lines  *lineReader
	out    *outbox

	waits waits

	initialized, finalized, aborted bool
	pending                         []Entry    // puts since the last barrier of the world
	stored                          int        // bytes of all puts
	warning                         sync.Mutex // others may, too
	warned                          map[string]bool
}

func (s *Server) newSession(rank, appnum int, conn io.ReadWriteCloser) *session {
	return &session{server: s, rank: rank, appnum: appnum, lines: newLineReader(conn), out: newOutbox(conn)}
}

func (s *session) run() {
	defer s.out.close()
	for !s.finalized {
		text, isPMI2, err := s.lines.message()
		if err == nil {
			err = s.serve(text, isPMI2)
		} else if errors.Is(err, errTooLong) {
			err = s.refuse("too long", fmt.Sprintf("PMI request longer than %d bytes", maxRequest), "error", "line_too_long")
		}
		// A rank that has ended cannot be answered, but what it sent before, such as an abort, is still read. The next
		// read tells when there is no more.
		if err != nil && !errors.Is(err, errUnanswered) {
			s.end(err)
			return
		}
	}
}

// end reports why the session stopped before finalize.
func (s *session) end(err error) {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		s.warn("half line", "PMI connection ended in the middle of a request")
	}
	if s.initialized && !s.aborted {
		s.server.events.Disconnected(s.rank)
	}
}

// serve answers one message. An error is one of the connection: the session cannot go on.
func (s *session) serve(text string, isPMI2 bool) error {
	s.trace(false, text)
	if isPMI2 {
		return s.servePMI2(text)
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	msg, err := Parse(text)
	if err != nil {
		return s.refuse("no command", "PMI request without a command: "+quote(text), "error", "no_command")
	}
	if msg.Multi {
		var complete bool
		if msg.block, complete, err = s.lines.block(); err != nil {
			return err
		}
		s.trace(false, strings.Join(msg.block, " "))
		if !complete {
			return s.refuse("block", "unfinished PMI request "+quote(msg.Command), replyName(msg.Command)+"_result", "unfinished")
		}
	}
	handle, found := commands[msg.Command]
	if !found || msg.Multi != (msg.Command == "spawn") {
		text := "unknown PMI command " + quote(msg.Command)
		return s.refuse(text, text, replyName(msg.Command)+"_result", "unknown_cmd")
	}
	return s.reply(handle(s, msg))
}

func (s *session) servePMI2(text string) error {
	msg, err := ParsePMI2(text)
	if err != nil {
		s.warn("no command", "PMI request without a command: "+quote(text))
		return s.replyPMI2(Message{Command: "error"}, "rc=-1;errmsg=no command;")
	}
	handle, found := commandsPMI2[msg.Command]
	if !found {
		text := "unknown PMI-2 command " + quote(msg.Command)
		s.warn(text, text)
		return s.replyPMI2(msg, "rc=-1;errmsg=unknown command;")
	}
	return s.replyPMI2(msg, handle(s, msg))
}

// refuse answers rc=-1 and warns once per topic.
func (s *session) refuse(topic, text, name, reason string) error {
	s.warn(topic, text)
	return s.reply(fmt.Sprintf("cmd=%s rc=-1 msg=%s", name, reason))
}

func (s *session) warn(topic, text string) {
	const topics = 8 // a session that warns about everything is noise
	s.warning.Lock()
	defer s.warning.Unlock()
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
func (s *session) reply(line string) error { return s.send(s.line(line)) }

// replyPMI2 sends the fields after the name of the reply and the client's mark of the request; no fields mean no reply.
func (s *session) replyPMI2(request Message, fields string) error {
	return s.send(s.linePMI2(request, fields))
}

// answer replies to a request that had to wait.
func (s *session) answer(request Message, text string) {
	if request.isPMI2 {
		text = s.linePMI2(request, text)
	} else {
		text = s.line(text)
	}
	if err := s.out.post(text); errors.Is(err, errUnread) {
		s.warn("unread", fmt.Sprintf("does not read what its PMI requests are answered; %d bytes wait, so its connection is closed", maxUnread))
		s.out.close()
	}
}

func (s *session) line(line string) string {
	if line == "" {
		return ""
	}
	if len(line)+1 > maxReply {
		name, _, _ := strings.Cut(line, " ")
		line = name + " rc=-1 msg=reply_too_long"
	}
	s.trace(true, line)
	return line + "\n"
}

func (s *session) linePMI2(request Message, fields string) string {
	if fields == "" {
		return ""
	}
	body := "cmd=" + replyName(request.Command) + "-response;"
	if mark, found := request.Lookup("thrid"); found {
		body += "thrid=" + replyName(mark) + ";"
	}
	body += fields
	s.trace(true, body)
	return fmt.Sprintf("%*d%s", lengthDigits, len(body), body)
}

func (s *session) send(text string) error {
	if text == "" {
		return nil
	}
	if err := s.out.write(text); err != nil {
		return fmt.Errorf("%w: %w", errUnanswered, err)
	}
	return nil
}

func quote(s string) string {
	const most = 40
	if len(s) > most {
		return fmt.Sprintf("%q...", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// replyName returns a name that is safe to send back.
func replyName(name string) string { return name[:min(len(name), KeyLenMax)] }

// A Tracer takes the wire trace: one line for each message, without a newline. It is called from many goroutines.
type Tracer func(line string)

// maxShown is how much of a message the trace shows. Addresses and shared memory names are longer than their beginnings say.
const maxShown = 200

// trace shows one message, without secrets: -> is what the rank sends, <- what it gets.
func (s *session) trace(toRank bool, text string) {
	if s.server.trace == nil {
		return
	}
	arrow := "->"
	if toRank {
		arrow = "<-"
	}
	text = s.server.kvs.hide(strings.TrimRight(text, "\n"))
	if len(text) > maxShown {
		text = fmt.Sprintf("%s... (%d bytes)", text[:maxShown], len(text))
	}
	s.server.trace(fmt.Sprintf("[rank %d] %s %s", s.rank, arrow, printable(text)))
}

// printable keeps what a rank sent from moving the cursor of the reader's terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}
