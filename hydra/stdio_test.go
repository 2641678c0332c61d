// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
)

// If another process makes a pipe non-blocking, nothing is lost: neither data that does not fit into the pipe, nor later data.
func TestPatient(t *testing.T) {
	var fds [2]int
	require.NoError(t, unix.Pipe2(fds[:], unix.O_CLOEXEC))
	in, out := patient{os.NewFile(uintptr(fds[0]), "in")}, patient{os.NewFile(uintptr(fds[1]), "out")}
	defer in.Close()
	for _, fd := range fds {
		require.NoError(t, unix.SetNonblock(fd, true))
	}
	text := bytes.Repeat([]byte("a line of output\n"), 20000)
	merger := newMerger(out.File)
	go func() {
		merger.add(piece{kind: channel.Stdout, text: text})
		merger.flush()
		out.Close()
	}()
	got, err := io.ReadAll(in)
	require.NoError(t, err)
	assert.Len(t, got, len(text))
}
