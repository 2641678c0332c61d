// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package channel

import (
	"encoding/binary"
	"fmt"

	"github.com/tpsl/tpsl/hydra/wire"
)

// A Conn is one end of the conversation between mpiexec and one proxy. Several conversations may share a trunk.
type Conn struct {
	trunk *Trunk
	proxy int
}

// Send queues a frame. Frames are dropped once the peer is gone or the trunk is closed. Receive then returns the error.
func (c *Conn) Send(kind Kind, index int, body []byte) {
	c.trunk.Put(Frame{kind, c.proxy, index, body})
}

// SendValue queues a frame whose body is v, encoded by package wire.
func (c *Conn) SendValue(kind Kind, v any) { c.Send(kind, 0, wire.Encode(v)) }

// Answer queues the answer to the request of that index, as SendValue does.
func (c *Conn) Answer(request int, v any) { c.Send(Answer, request, wire.Encode(v)) }

// Value reads the body that SendValue wrote.
func (f Frame) Value(v any) error {
	if err := wire.Decode(f.Body, v); err != nil {
		return fmt.Errorf("read frame of kind %d: %w", f.Kind, err)
	}
	return nil
}

// SendCredit tells the peer that n bytes of a stream were consumed.
func (c *Conn) SendCredit(stream Kind, n int) {
	c.Send(Credit, int(stream), binary.BigEndian.AppendUint32(nil, uint32(n)))
}

// CreditOf returns the stream and byte count of a Credit frame.
func (f Frame) CreditOf() (stream Kind, n int) {
	if len(f.Body) != 4 {
		return 0, 0
	}
	return Kind(f.Index), int(binary.BigEndian.Uint32(f.Body))
}
