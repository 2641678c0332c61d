// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A Claim lets a peer be a rank, once, and returns the index of the rank's program segment.
type Claim func(rank int) (appnum int, err error)

var errStranger = errors.New("does not begin as a PMI client")

// Identify reads who the peer of a connection is that was not inherited: cmd=initack of PMI-1, or the fullinit of PMI-2. It
// answers nothing before claim agrees. serve then runs the session as Serve does; after an error the caller closes conn.
func (s *Server) Identify(conn io.ReadWriteCloser, claim Claim) (rank int, serve func(), err error) {
	peer := s.newSession(-1, 0, conn)
	text, isPMI2, err := peer.lines.message()
	if err != nil {
		return 0, nil, err
	}
	msg, err := Parse(text)
	switch {
	case err != nil || isPMI2:
		return 0, nil, errStranger
	case msg.Command == "initack":
		err = peer.initAck(text, msg, claim)
	case msg.Command == "init" && msg.Get("pmi_version") == "2":
		err = peer.identifyPMI2(text, msg, claim)
	default:
		err = errStranger
	}
	return peer.rank, peer.run, err
}

func (s *session) claim(id string, claim Claim) error {
	rank, err := strconv.Atoi(id)
	if err != nil {
		return errStranger
	}
	if s.appnum, err = claim(rank); err == nil {
		s.rank = rank
	}
	return err
}

// initAck answers with everything that clients of Hydra 4.0 and 5.0 look for.
func (s *session) initAck(text string, m Message, claim Claim) error {
	if err := s.claim(m.Get("pmiid"), claim); err != nil {
		return err
	}
	s.trace(false, text)
	size := s.server.world.Size
	lines := fmt.Sprintf("cmd=initack rc=0 rank=%d size=%d appnum=%d debug=0\ncmd=set size=%d\ncmd=set rank=%d\ncmd=set debug=0\n",
		s.rank, size, s.appnum, size, s.rank)
	s.trace(true, lines)
	return s.send(lines)
}

// identifyPMI2 answers the init line, which tells nothing, to get the fullinit that names the rank.
func (s *session) identifyPMI2(text string, m Message, claim Claim) error {
	if err := s.send(initReply(m) + "\n"); err != nil {
		return err
	}
	body, isPMI2, err := s.lines.message()
	if err != nil {
		return err
	}
	full, err := ParsePMI2(body)
	if err != nil || !isPMI2 || full.Command != "fullinit" {
		return errStranger
	}
	if err := s.claim(full.Get("pmirank"), claim); err != nil {
		return err
	}
	s.trace(false, text)
	s.trace(false, body)
	s.init(m)
	return s.replyPMI2(full, s.fullInit(full))
}

var errSingleton = errors.New("it does not ask for PMI-1")

// Singleton begins the session of a process that was started alone and now wants a server. serve then runs the session of
// rank 0 as Serve does; after an error the caller closes conn.
func (s *Server) Singleton(conn io.ReadWriteCloser) (serve func(), err error) {
	peer := s.newSession(0, 0, conn)
	if err := peer.reply("cmd=singinit authtype=none"); err != nil {
		return nil, err
	}
	text, err := peer.lines.next()
	if err != nil {
		return nil, err
	}
	peer.trace(false, text)
	m, err := Parse(text)
	if err != nil || m.Command != "singinit" || m.Get("pmi_version") != "1" {
		return nil, errSingleton
	}
	return peer.run, peer.reply(fmt.Sprintf("cmd=singinit_info versionok=yes stdio=no kvsname=%s", s.world.KVSName))
}
