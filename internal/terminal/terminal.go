// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Is reports whether a descriptor is of a terminal. It takes no os.File, whose Fd method may change the mode of a stream
// that others write to as well.
func Is(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// ColourWanted reports whether the user lets programs colour what they write to a terminal: NO_COLOR is not set, or is
// empty (https://no-color.org).
func ColourWanted() bool { return os.Getenv("NO_COLOR") == "" }
