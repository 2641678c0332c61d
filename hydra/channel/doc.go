// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package channel carries framed messages between mpiexec and a proxy over two byte streams.
//
// The streams are the proxy's standard input and output, so any launcher that passes those through will do: a pipe, ssh,
// srun. Nothing listens. A Trunk is one end of them; it carries the frames of one proxy, or of several behind it, each of
// which has a Conn. A frame is a kind, the proxy, an index whose meaning depends on the kind, and a body. Control frames are
// small and never wait; the three stdio streams are bounded by a Window each, so a slow reader of one stream holds up
// neither the other streams nor control.
//
// Not safe: the body of a frame is trusted only as far as its bounds; whoever owns the streams owns the job.
//
// Send may be called from any goroutine, Receive from one at a time.
package channel
