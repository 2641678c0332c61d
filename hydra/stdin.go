// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
)

const (
	stdinChunk  = 64 << 10
	stdinWindow = 4 * stdinChunk
)

// feedStdin sends this process's stdin to rank 0, reading no further ahead than the window allows. When rank 0 reads no
// more, stdin is closed, so that whoever writes it finds out as in any pipeline.
func feedStdin(conn *channel.Conn, window *channel.Window) {
	defer conn.Send(channel.StdinEOF, 0, nil)
	if inBackground() {
		return
	}
	for window.Acquire(stdinChunk) {
		chunk := make([]byte, stdinChunk)
		n, err := os.Stdin.Read(chunk)
		if n > 0 {
			conn.Send(channel.Stdin, 0, chunk[:n])
		}
		window.Release(stdinChunk - n)
		if err != nil {
			return
		}
	}
	os.Stdin.Close()
}

// inBackground reports whether reading stdin would stop the job: it is a terminal that another process group has.
func inBackground() bool {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}
