// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A patient file waits also where somebody who shares its open file description has made that non-blocking, as ssh does
// with a terminal.
type patient struct{ *os.File }

// Read implements io.Reader.
func (f patient) Read(b []byte) (n int, err error) {
	for {
		if n, err = f.File.Read(b); !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		f.await(unix.POLLIN)
	}
}

// Write implements io.Writer.
func (f patient) Write(b []byte) (n int, err error) {
	for {
		part, err := f.File.Write(b[n:])
		if n += part; !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		f.await(unix.POLLOUT)
	}
}

// await returns when the next call will not find the file busy, or at times before: what is wrong shows then.
func (f patient) await(event int16) {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: event}}, -1)
}
