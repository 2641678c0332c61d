// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// The messages by which processes meet, in the order in which they are sent.
const (
	noteWelcome = iota + 1 // to a process: which one it is, and of how many
	noteHello              // from a process: its ranks, with its segment and a pidfd of itself
	notePeer               // to a process: another one's ranks, segment and pidfd
	noteRefused            // to a process: why there will be no node, in words
)

// A note is one such message.
type note struct {
	Kind, Version       uint32
	Process, Processes  uint32
	First, Ports, Total uint32 // ranks First to First+Ports-1 of Total
	Pid                 uint32
	Probe               uint64 // the address of the word to try to read
}

const (
	noteSize   = 40
	maxWords   = 1024
	noteFiles  = 2 // a segment, a pidfd
	patience   = 30 * time.Second
	afterwards = time.Second // for the refusal of those that came, once one did not
)

// A meetingSocket carries notes.
type meetingSocket struct{ *net.UnixConn }

// openSocket takes a socket that this process was given. The file stays the caller's.
func openSocket(f *os.File) (meetingSocket, error) {
	c, err := net.FileConn(f)
	if err != nil {
		return meetingSocket{}, fmt.Errorf("%s: %w", f.Name(), err)
	}
	unixConn, ok := c.(*net.UnixConn)
	if !ok || unixConn.LocalAddr().Network() != "unixpacket" {
		c.Close()
		return meetingSocket{}, fmt.Errorf("%s: not a Unix socket of kind SOCK_SEQPACKET", f.Name())
	}
	return meetingSocket{unixConn}, nil
}

// limit makes all that goes over the sockets fail when ctx ends, or too much time has passed.
// The returned function ends this.
func limit(ctx context.Context, sockets ...meetingSocket) (stop func() bool) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(patience)
	}
	for _, s := range sockets {
		_ = s.SetDeadline(deadline)
	}
	return context.AfterFunc(ctx, func() {
		for _, s := range sockets {
			_ = s.SetDeadline(time.Unix(1, 0))
		}
	})
}

// send sends a note with descriptors or, to refuse, words.
func (s meetingSocket) send(n note, words string, files ...*os.File) error {
	n.Version = version
	b, err := binary.Append(make([]byte, 0, noteSize), binary.LittleEndian, n)
	if err != nil {
		return err
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	var rights []byte
	if fds != nil {
		rights = unix.UnixRights(fds...)
	}
	_, _, err = s.WriteMsgUnix(append(b, words[:min(len(words), maxWords)]...), rights, nil)
	return err
}

// receive receives a note of the kind asked for, and what came with it. A refusal
// is an error.
func (s meetingSocket) receive(kind uint32) (note, attached, error) {
	b := make([]byte, noteSize+maxWords)
	control := make([]byte, unix.CmsgSpace(noteFiles*4)+unix.CmsgSpace(unix.SizeofUcred))
	n, c, flags, _, err := s.ReadMsgUnix(b, control)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return note{}, attached{}, err
	}
	got, err := readAttached(control[:c])
	var m note
	if err == nil {
		err = binary.Read(bytes.NewReader(b[:n]), binary.LittleEndian, &m)
	}
	switch {
	case err != nil:
	case flags&unix.MSG_CTRUNC != 0 && len(got.files) < noteFiles:
		err = fmt.Errorf("no place for a peer's descriptors: %w", unix.EMFILE)
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		err = errors.New("a note that is too long")
	case m.Version != version:
		err = fmt.Errorf("version %d, not %d: run the same version in all processes", m.Version, version)
	case m.Kind == noteRefused:
		err = errors.New(string(b[noteSize:n]))
	case m.Kind != kind || (kind == noteWelcome) != (len(got.files) == 0) || len(got.files)%noteFiles != 0:
		err = fmt.Errorf("a note of kind %d with %d descriptors, not of kind %d", m.Kind, len(got.files), kind)
	}
	if err != nil {
		got.close()
		return note{}, attached{}, err
	}
	return m, got, nil
}

// attached is what the kernel carries beside a note.
type attached struct {
	files  []*os.File
	sender *unix.Ucred // if the socket asks for it
}

func (a attached) close() {
	for _, f := range a.files {
		f.Close()
	}
}

func readAttached(control []byte) (a attached, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return a, err
	}
	for i := range messages {
		switch messages[i].Header.Type {
		case unix.SCM_RIGHTS:
			fds, err := unix.ParseUnixRights(&messages[i])
			if err != nil {
				return a, err
			}
			for _, fd := range fds {
				a.files = append(a.files, os.NewFile(uintptr(fd), "from a peer"))
			}
		case unix.SCM_CREDENTIALS:
			if a.sender, err = unix.ParseUnixCredentials(&messages[i]); err != nil {
				return a, err
			}
		}
	}
	return a, nil
}
