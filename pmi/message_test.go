// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, line, command string
		args                map[string]string
	}{
		{"plain", "cmd=get kvsname=K key=A", "get", map[string]string{"kvsname": "K", "key": "A"}},
		{"any order", "kvsname=K cmd=get key=A", "get", map[string]string{"kvsname": "K", "key": "A"}},
		{"extra blanks", "  cmd=get   key=A  ", "get", map[string]string{"key": "A"}},
		{"value to end of line", "cmd=put key=A value=a b=c  d ", "put", map[string]string{"key": "A", "value": "a b=c  d "}},
		{"empty value", "cmd=put key=A value=", "put", map[string]string{"value": ""}},
		{"bare words", "cmd=abort exitcode=3 because of this", "abort", map[string]string{"exitcode": "3"}},
		{"free text", "cmd=abort exitcode=3 message=no such file", "abort", map[string]string{"message": "no such file"}},
		{"first use counts", "cmd=get key=A key=B", "get", map[string]string{"key": "A"}},
		{"carriage return", "cmd=finalize\r", "finalize", nil},
		{"equals in value", "cmd=publish_name service=s port=a=b", "publish_name", map[string]string{"port": "a=b"}},
		{"service with blanks", "cmd=publish_name service=my own one port=p", "publish_name", map[string]string{"service": "my own one", "port": "p"}},
		{"service with blanks at the end", "cmd=lookup_name service=my own one", "lookup_name", map[string]string{"service": "my own one"}},
		{"service alone", "cmd=lookup_name service=s", "lookup_name", map[string]string{"service": "s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			msg, err := Parse(tt.line)
			require.NoError(t, err)
			assert.Equal(t, tt.command, msg.Command)
			for key, want := range tt.args {
				assert.Equal(t, want, msg.Get(key), key)
			}
		})
	}
}

func TestParseWithoutCommand(t *testing.T) {
	for _, line := range []string{"", "   ", "hello world", "key=A", "cmd=", "value=cmd=get"} {
		_, err := Parse(line)
		assert.ErrorIs(t, err, ErrNoCommand, line)
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", maxRequest+1)
	lines := newLineReader(strings.NewReader("cmd=a\n\ncmd=b\r\n" + long + "\ncmd=c\nhalf"))
	for _, want := range []string{"cmd=a", "", "cmd=b"} {
		line, err := lines.next()
		require.NoError(t, err)
		assert.Equal(t, want, line)
	}
	_, err := lines.next()
	require.ErrorIs(t, err, errTooLong)
	line, err := lines.next()
	require.NoError(t, err)
	assert.Equal(t, "cmd=c", line, "the long line is consumed")
	_, err = lines.next()
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestReaderTellsPMI2(t *testing.T) {
	for _, tt := range []struct {
		name, input, text string
		isPMI2            bool
		err               error
	}{
		{"Hydra's client", "    13cmd=fullinit;rest", "cmd=fullinit;", true, nil},
		{"Slurm's client", "13    cmd=fullinit;rest", "cmd=fullinit;", true, nil},
		{"empty message", "     0rest", "", true, nil},
		{"cut in the body", "    51cmd=fullinit;", "", true, io.ErrUnexpectedEOF},
		{"cut in the length", "    5", "", false, io.ErrUnexpectedEOF},
		{"blanks", "      cmd=init\n", "      cmd=init", false, nil},
		{"two numbers", " 1 2  cmd=init\n", " 1 2  cmd=init", false, nil},
		{"line after blanks", "  cmd=init\n", "  cmd=init", false, nil},
		{"line", "cmd=init\n", "cmd=init", false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, isPMI2, err := newLineReader(iotest.OneByteReader(strings.NewReader(tt.input))).message()
			assert.ErrorIs(t, err, tt.err)
			assert.Equal(t, tt.isPMI2, isPMI2)
			assert.Equal(t, tt.text, text)
		})
	}
}

// A message is returned if and only if there is no error, and it never exceeds the limit; one of PMI-1 is a line.
func FuzzReader(f *testing.F) {
	f.Add([]byte("cmd=init pmi_version=1\ncmd=put key=a value=b c\n"))
	f.Add([]byte("mcmd=spawn\nnprocs=1\ntotspawns=1\nspawnssofar=1\nendcmd\ncmd=finalize\n"))
	f.Add([]byte("    13cmd=fullinit;13    cmd=finalize;     0cmd=x\n\x00\xff"))
	f.Fuzz(func(t *testing.T, input []byte) {
		lines := newLineReader(bytes.NewReader(input))
		for range len(input) + 1 {
			text, isPMI2, err := lines.message()
			if err != nil {
				if text != "" {
					t.Fatalf("message %q with error %v", text, err)
				}
				if !errors.Is(err, errTooLong) {
					return
				}
				continue
			}
			parse := Parse
			if isPMI2 {
				parse = ParsePMI2
			} else if len(text) > maxRequest || strings.Contains(text, "\n") {
				t.Fatalf("bad line of %d bytes", len(text))
			}
			msg, err := parse(text)
			if (err == nil) != (msg.Command != "") || len(text) > len(input) {
				t.Fatalf("command %q with error %v", msg.Command, err)
			}
		}
		t.Fatal("reader does not end")
	})
}
