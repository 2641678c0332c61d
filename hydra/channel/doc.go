// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package channel carries framed messages between mpiexec and a proxy over two byte streams.
//
// The streams are the proxy's standard input and output. So any launcher that passes these through can be used, such as a
// pipe, ssh or srun. No socket listens. A Trunk is one end of the streams. It carries the frames of one proxy, or of several
// proxies below it, and each of them has a Conn. A frame has a kind, the proxy, an index whose meaning depends on the kind,
// and a body. Control frames are small and never wait. A Window bounds each of the three stdio streams, so a slow reader of one
// stream delays neither the other streams nor control frames.
//
// Not safe: only the bounds of a frame's body are checked, so whoever owns the streams owns the job.
//
// Send may be called from any goroutine, Receive from one goroutine at a time.
package channel
