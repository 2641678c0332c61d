// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
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

// Whatever a client sends, the session ends with its input and every reply is a message that old clients can hold.
func FuzzSession(f *testing.F) {
	f.Add([]byte("cmd=init pmi_version=1 pmi_subversion=1\ncmd=put kvsname=k key=a value=b\ncmd=barrier_in\ncmd=get kvsname=k key=a\ncmd=finalize\n"))
	f.Add([]byte("mcmd=spawn\nendcmd\ncmd=create_kvs\ncmd=getbyidx kvsname=k idx=-1\n"))
	f.Add([]byte("cmd=publish_name service=s port=p\ncmd=lookup_name service=s\ncmd=abort exitcode=x\n"))
	f.Add([]byte("cmd=init pmi_version=2 pmi_subversion=0\n    13cmd=fullinit;    24cmd=kvs-put;key=a;value=b;    14cmd=kvs-fence;" +
		"    21cmd=kvs-get;key=a;thrid=9;    35cmd=info-getnodeattr;key=n;wait=TRUE;    13cmd=finalize;"))
	f.Add([]byte("cmd=barrier_in group=0:1\ncmd=barrier_in group=NODE:x\ncmd=barrier_in group=0,1:2\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		server := NewServer(World{Size: 1, KVSName: "k"}, Ranks{0}, newRoot(1), noEvents{}, nil)
		conn := &script{Reader: bytes.NewReader(input)}
		server.Serve(0, 0, conn)
		replies := newLineReader(&conn.out)
		for {
			text, isPMI2, err := replies.message()
			if err != nil {
				assert.ErrorIs(t, err, io.EOF)
				return
			}
			if len(text)+1 > maxReply && !isPMI2 {
				t.Fatalf("reply of %d bytes", len(text))
			}
		}
	})
}
