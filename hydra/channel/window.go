// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package channel

import "sync"

// WindowSize is how many bytes of one stream may be under way. It exceeds any single stdio frame.
const WindowSize = 4 << 20

// A Window bounds the bytes of a stream that were sent and not yet consumed.
type Window struct {
	mu     sync.Mutex
	wake   *sync.Cond
	free   int
	closed bool
}

// NewWindow returns a window of the given size in bytes.
func NewWindow(size int) *Window {
	w := &Window{free: size}
	w.wake = sync.NewCond(&w.mu)
	return w
}

// Acquire waits until n bytes are free and takes them. It returns false once the window is closed.
func (w *Window) Acquire(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.free < n && !w.closed {
		w.wake.Wait()
	}
	w.free -= n
	return !w.closed
}

// Release gives n bytes back.
func (w *Window) Release(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free += n
	w.wake.Broadcast()
}

// Close ends every wait.
func (w *Window) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.wake.Broadcast()
}
