// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"bytes"
	"io"
	"log/slog"
	"testing"
)

// script is a connection whose peer says what the fuzzer says and then goes.
type script struct {
	io.Reader
	out bytes.Buffer
}

func (s *script) Write(b []byte) (int, error) { return s.out.Write(b) }
func (s *script) Close() error                { return nil }

type noEvents struct{}

func (noEvents) Initialized(int)          {}
func (noEvents) Finalized(int)            {}
func (noEvents) Aborted(int, int, string) {}
func (noEvents) Disconnected(int)         {}
func (noEvents) Warned(int, string)       {}

// Whatever a client sends, the session ends with its input and every reply is a line that old clients can hold.
func FuzzSession(f *testing.F) {
	f.Add([]byte("cmd=init pmi_version=1 pmi_subversion=1\ncmd=put kvsname=k key=a value=b\ncmd=barrier_in\ncmd=get kvsname=k key=a\ncmd=finalize\n"))
	f.Add([]byte("mcmd=spawn\nendcmd\ncmd=create_kvs\ncmd=getbyidx kvsname=k idx=-1\n"))
	f.Add([]byte("cmd=publish_name service=s port=p\ncmd=lookup_name service=s\ncmd=abort exitcode=x\n"))
	f.Add([]byte("    12cmd=fullinit;"))
	f.Fuzz(func(t *testing.T, input []byte) {
		server := NewServer(World{Size: 1, KVSName: "k"}, 1, NewRoot(1), noEvents{}, slog.New(slog.DiscardHandler))
		conn := &script{Reader: bytes.NewReader(input)}
		server.Serve(0, 0, conn)
		for line := range bytes.Lines(conn.out.Bytes()) {
			if len(line) > maxReply {
				t.Fatalf("reply of %d bytes", len(line))
			}
		}
	})
}
