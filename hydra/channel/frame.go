// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package channel

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Kind tells what a frame means.
type Kind uint8

// Frames from mpiexec to a proxy.
const (
	Launch     Kind = iota + 1 // body: plan.Host
	Stdin                      // body: bytes for rank 0
	StdinEOF                   // rank 0's stdin ends
	Signal                     // index: signal number for every rank's process group
	Kill                       // end every rank now
	BarrierOut                 // body: pmi.Arrival, with everybody's puts
	Answer                     // index: of the request; body: depends on it
	ModexQuery                 // body: Modex; somebody wants what a rank of this proxy's has put
	Dead                       // body: ranks that ended while the job goes on
	Locate                     // tell where the ranks are
	Unwind                     // tell the stacks of the ranks
	Time                       // index: any, for the answer; tell the host's time
	Watch                      // index: any but 0, for the answer; sample the ranks and tell of them. 0: sample them no more
	Grow                       // body: of package launch; makes the proxy a relay
)

// Frames from a proxy to mpiexec.
const (
	Started       Kind = iota + 32 // every set runs; body: the processes of the sets
	Stdout                         // index: first rank that it is from; body: output
	Stderr                         // index: first rank that it is from; body: output
	StdinClosed                    // nobody reads rank 0's stdin any more
	BarrierIn                      // body: pmi.Arrival
	NameRequest                    // index: any, for the answer, a Name; body: Name
	SpawnRequest                   // index: any, for the answer, a pmi.SpawnReply; body: pmi.SpawnRequest
	LayoutRequest                  // index: any, for the answer, a Layout; body: Layout; the ranks are served by PMIx
	MeetRequest                    // index: any, for the answer, a pmi.Arrival; body: pmi.Arrival, whose barrier is that of a meeting
	ModexRequest                   // index: any, for the answer, a Modex; body: Modex
	ModexReply                     // body: Modex
	Initialized                    // index: rank, the host's first to start a PMI session
	Aborted                        // body: Abort
	Exited                         // body: Exit
	Failed                         // body: text; the host's ranks cannot run. index: 0, or 1 more than that of the program at fault
	Warned                         // index: 1 more than the rank that it is about, or 0 for the host; body: text
	LastLines                      // body: Tail
	Explained                      // body: text; what on the host may be why its ranks have failed
	Traced                         // body: a line of the PMI trace
	Placed                         // body: plan.Placement, before anything starts
	Located                        // body: Location
	Unwound                        // body: a list of RankStack
	Counted                        // body: Counts, of a rank that has ended
	Timed                          // index: of the question; body: the host's CLOCK_MONOTONIC in nanoseconds, 8 bytes big-endian
	Watched                        // index: that of the question; body: Samples
	Lost                           // body: Loss
	Done                           // all ranks have ended and all output is sent
)

// Credit goes both ways. Index: the stream's kind (Stdin, Stdout, Stderr); body: bytes consumed, 4 bytes big-endian.
const Credit Kind = 64

// Beat comes from a proxy at regular intervals, so that the process that started the proxy can notice its silence.
const Beat Kind = 65

// A Frame is one message.
type Frame struct {
	Kind  Kind
	Proxy int // the proxy that it is for or from; relays use it to find the way
	Index int
	Body  []byte
}

const (
	headerSize = 13
	// MaxBody bounds a frame's body. The launch frame of a big job is the longest.
	MaxBody = 64 << 20
)

// append adds the frame to b.
func (f Frame) append(b []byte) []byte {
	b = append(b, byte(f.Kind))
	b = binary.BigEndian.AppendUint32(b, uint32(f.Proxy))
	b = binary.BigEndian.AppendUint32(b, uint32(f.Index))
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.Body)))
	return append(b, f.Body...)
}

// read returns io.EOF if and only if the stream ends between frames.
func read(r io.Reader) (Frame, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{
		Kind:  Kind(header[0]),
		Proxy: int(binary.BigEndian.Uint32(header[1:])),
		Index: int(binary.BigEndian.Uint32(header[5:])),
	}
	size := binary.BigEndian.Uint32(header[9:])
	if size > MaxBody {
		return Frame{}, fmt.Errorf("read frame of kind %d: body of %d bytes exceeds %d", f.Kind, size, MaxBody)
	}
	f.Body = make([]byte, size)
	if _, err := io.ReadFull(r, f.Body); err != nil {
		return Frame{}, fmt.Errorf("read frame of kind %d: %w", f.Kind, io.ErrUnexpectedEOF)
	}
	return f, nil
}
