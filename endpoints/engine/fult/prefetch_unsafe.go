// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import "unsafe"

// stackTop returns about where the caller's frame lies.
func stackTop() uintptr {
	var here byte
	return uintptr(unsafe.Pointer(&here))
}

// captured returns the two words that iter.Pull's next has captured: the state it
// shares with yield, and the coroutine. They are only prefetched, so that it does
// no harm if they are something else one day.
func captured(next func() (struct{}, bool)) (first, second uintptr) {
	closure := *(**[3]uintptr)(unsafe.Pointer(&next))
	return closure[1], closure[2]
}
