// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without credits a neighbour has more messages on their way than there are buffers; with them never.
func TestCreditsBoundWhatIsOnItsWay(t *testing.T) {
	for _, credits := range []bool{true, false} {
		r, next := newRouter(torus(t, 5, 1), 0, 2), newRouter(torus(t, 5, 1), 1, 2)
		sent, refused := 0, false
		for range 10 {
			r.own = &waiting{body: newBody(2, 0, 0, nil), came: start, ready: true}
			r.advance(func(index int, f frame) bool {
				require.Equal(t, 1, r.channels[index].to)
				_, err := next.expect(next.linkTo(0), f.class)
				refused = refused || err != nil
				sent++
				return true
			})
			if !credits {
				r.links[r.linkTo(1)].out[0] = 0
			}
		}
		if credits {
			assert.Equal(t, 2, sent)
		}
		assert.Equal(t, !credits, refused)
	}
}

// A process tells a neighbour once of each link that is down, before all else, and of its own credits not at all.
func TestNoticesComeFirst(t *testing.T) {
	r := newRouter(torus(t, 9, 2), 4, 1)
	r.gone = func(rank int, err error) { t.Errorf("rank %d: %v", rank, err) }
	r.own = &waiting{body: newBody(0, 4, 0, nil), came: start, ready: true}
	for range 2 {
		r.lose(edge{0, 1})
	}
	told := map[int][]uint32{}
	r.advance(func(index int, f frame) bool {
		told[index] = append(told[index], f.kind)
		return true
	})
	messages := 0
	for index := range r.channels {
		require.NotEmpty(t, told[index])
		assert.EqualValues(t, frameNotice, told[index][0])
		messages += len(told[index]) - 1
	}
	assert.Equal(t, 1, messages)
	holdsMessages, holdsWords := r.holds()
	assert.False(t, holdsMessages || holdsWords)
}

// Frames that make no sense are refused, with the reason.
func TestFramesMustMakeSense(t *testing.T) {
	for _, f := range []frame{
		{}, {kind: 4}, {kind: frameMessage}, {kind: frameMessage, body: words(9, 0, 0)}, {kind: frameMessage, body: words(0, 9, 0)},
		{kind: frameMessage, body: make([]byte, maxBody+1)}, {kind: frameCredit}, {kind: frameCredit, body: words(1, 1)},
		{kind: frameCredit, class: -1, body: words(1)}, {kind: frameCredit, class: maxClass + 1, body: words(1)},
		{kind: frameNotice, body: words(1)}, {kind: frameNotice, body: words(1, 9)}, {kind: frameNotice, body: words(1, 1)}, {kind: frameNotice, body: words(2, 1)},
	} {
		assert.ErrorContains(t, f.check(9), "makes no sense")
	}
	r := newRouter(torus(t, 9, 2), 4, 1)
	assert.EqualError(t, r.hear(0, &frame{kind: frameCredit, body: words(1)}), "1 credits of class 0 came back, of 0")
	assert.EqualError(t, r.hear(0, &frame{kind: frameNotice, body: words(0, 4)}), "0-4 is said to be down, and is no link")
}

// Whatever neighbours say, a process neither breaks nor keeps more of their messages than it has buffers.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, frameMessage, 0, 12, 8, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0})
	f.Add([]byte{1, frameCredit, 1, 4, 1, 0, 0, 0, 2, frameNotice, 0, 8, 0, 0, 0, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		const buffers = 2
		r := newRouter(torus(t, 9, 2), 4, buffers)
		r.deliver = func(m Message) { require.LessOrEqual(t, len(m.Payload), MaxPayload) }
		r.gone = func(int, error) {}
		for len(data) >= 4 {
			index := int(data[0]) % len(r.links)
			length := min(int(data[3]), len(data)-4)
			fr := frame{kind: uint32(data[1]), class: int32(int8(data[2])), body: data[4 : 4+length]}
			data = data[4+length:]
			if fr.check(9) != nil {
				continue
			}
			if fr.kind == frameMessage {
				if w, err := r.expect(index, fr.class); err == nil {
					w.body, w.ready = fr.body, true
				}
			} else {
				_ = r.hear(index, &fr)
			}
			r.advance(func(int, frame) bool { return len(data)%2 == 0 })
			for i := range r.links {
				for _, queue := range r.links[i].in {
					require.LessOrEqual(t, len(queue), buffers)
				}
			}
		}
	})
}
