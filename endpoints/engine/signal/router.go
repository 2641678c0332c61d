// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
)

// A router is what one process decides: which message goes on by which channel, when, and in which
// class. It does no input or output, so that tests can take it through all orders of events.
type router struct {
	torus    *Torus
	self     int
	buffers  int // for each channel and class
	channels []channel
	links    []link // by channel
	routes   routes
	down     map[edge]bool
	own      *waiting // the process's own message that is next
	turn     int      // who may go on first
	isFlat   bool     // all messages stay in class 0: tests see what the classes are for

	deliver func(Message)
	gone    func(rank int, err error)
}

// A link is a process's end of a link.
type link struct {
	down    bool
	came    int          // the order of the neighbour's channel to here
	in      [][]*waiting // by class: messages that came by this link, and wait
	out     []int        // by class: credits in use
	owed    []uint32     // by class: credits to give back
	notices []edge       // to be told
}

// waiting is a message that waits to go on.
type waiting struct {
	body  []byte
	class int32
	came  int // the order of the channel by which it came
	// A carrier may bring the bytes later. Then it is not ready; and if the neighbour ended before that, it is lost.
	ready, lost bool
}

func newRouter(t *Torus, self, buffers int) *router {
	r := &router{torus: t, self: self, buffers: buffers, channels: t.channels(self), down: map[edge]bool{}}
	for _, c := range r.channels {
		back := t.channels(c.to)
		i := slices.IndexFunc(back, func(b channel) bool { return b.to == self })
		r.links = append(r.links, link{came: back[i].order})
	}
	r.routes = t.routesFrom(self, nil)
	return r
}

// grow returns the place of a class in what is kept by class.
func grow[T any](s *[]T, class int32) *T {
	for len(*s) <= int(class) {
		var none T
		*s = append(*s, none)
	}
	return &(*s)[class]
}

// linkTo returns the index of the link to a neighbour, -1 if there is none.
func (r *router) linkTo(rank int) int {
	return slices.IndexFunc(r.channels, func(c channel) bool { return c.to == rank })
}

// expect takes a message's place when the message comes by a link; its bytes may follow. An error means
// that the neighbour had no credit.
func (r *router) expect(index int, class int32) (*waiting, error) {
	l := &r.links[index]
	queue := grow(&l.in, class)
	if len(*queue) == r.buffers {
		return nil, fmt.Errorf("a message of class %d came without a credit", class)
	}
	w := &waiting{class: class, came: l.came}
	*queue = append(*queue, w)
	return w, nil
}

// hear acts on a frame that is no message.
func (r *router) hear(index int, f *frame) error {
	if f.kind == frameNotice {
		e := edge{int(word(f.body, 0)), int(word(f.body, 1))}
		if !slices.Contains(r.torus.Neighbours(e[0]), e[1]) {
			return fmt.Errorf("%d-%d is said to be down, and is no link", e[0], e[1])
		}
		r.lose(e)
		return nil
	}
	used, back := grow(&r.links[index].out, f.class), int(word(f.body, 0))
	if back > *used {
		return fmt.Errorf("%d credits of class %d came back, of %d", back, f.class, *used)
	}
	*used -= back
	return nil
}

// advance moves on all that can move. send puts a frame on a channel, if there is room. It returns whether anything
// has moved.
func (r *router) advance(send func(index int, f frame) bool) (moved bool) {
	for r.step(send) {
		moved = true
	}
	return moved
}

func (r *router) step(send func(index int, f frame) bool) (moved bool) {
	for i := range r.links {
		l := &r.links[i]
		for len(l.notices) > 0 && !l.down && send(i, frame{kind: frameNotice, body: words(uint32(l.notices[0][0]), uint32(l.notices[0][1]))}) {
			l.notices, moved = l.notices[1:], true
		}
	}
	// One message of each queue in turn, the process's own among them.
	count := len(r.links) + 1
	r.turn = (r.turn + 1) % count
	for k := range count {
		i := (r.turn + k) % count
		if i == len(r.links) {
			if r.own != nil && r.forward(r.own, send) {
				r.own, moved = nil, true
			}
			continue
		}
		l := &r.links[i]
		for class := range l.in {
			queue := &l.in[class]
			if len(*queue) > 0 && r.forward((*queue)[0], send) {
				*queue, moved = (*queue)[1:], true
				*grow(&l.owed, int32(class))++
			}
		}
	}
	for i := range r.links {
		l := &r.links[i]
		for class, owed := range l.owed {
			if owed > 0 && !l.down && send(i, frame{kind: frameCredit, class: int32(class), body: words(owed)}) {
				l.owed[class], moved = 0, true
			}
		}
	}
	return moved
}

// forward delivers a message or sends it on, if it can. A message that no way leads on for has no
// other end than this.
func (r *router) forward(w *waiting, send func(index int, f frame) bool) bool {
	switch {
	case w.lost:
		return true
	case !w.ready:
		return false
	case destination(w.body) == r.self:
		r.deliver(messageOf(w.body))
		return true
	}
	i, ascends := choose(r.channels, r.routes[destination(w.body)], w.came)
	if i < 0 {
		return true
	}
	class := w.class
	if ascends && !r.isFlat {
		class++
	}
	used := grow(&r.links[i].out, class)
	if *used == r.buffers || !send(i, frame{kind: frameMessage, class: class, body: w.body}) {
		return false
	}
	*used++
	return true
}

// holds tells whether messages wait here, and whether neighbours are still to be told of credits or of links.
func (r *router) holds() (messages, words bool) {
	messages = r.own != nil
	for i := range r.links {
		l := &r.links[i]
		words = words || !l.down && (len(l.notices) > 0 || slices.ContainsFunc(l.owed, func(n uint32) bool { return n > 0 }))
		messages = messages || slices.ContainsFunc(l.in, func(queue []*waiting) bool { return len(queue) > 0 })
	}
	return messages, words
}

// lose notes that a link is down, and has the neighbours told. What no way leads to any more is gone.
func (r *router) lose(e edge) {
	if r.down[e] {
		return
	}
	r.down[e] = true
	for i := range r.links {
		l := &r.links[i]
		if e == edgeOf(r.self, r.channels[i].to) {
			l.down, l.notices, l.owed = true, nil, nil
		}
		if !l.down {
			l.notices = append(l.notices, e)
		}
	}
	before := r.routes
	r.routes = r.torus.routesFrom(r.self, r.down)
	for rank := range before {
		if before[rank] != 0 && r.routes[rank] == 0 {
			r.gone(rank, goneError(r.torus, r.routes, r.self, rank, r.down))
		}
	}
}

// goneError says why a process cannot be reached from another: it names the links that would lead to it, or to those with which it is cut off.
func goneError(t *Torus, reached routes, self, rank int, down map[edge]bool) error {
	var names []string
	seen := map[int]bool{rank: true}
	for queue := []int{rank}; len(queue) > 0; queue = queue[1:] {
		for _, to := range t.Neighbours(queue[0]) {
			e := edgeOf(queue[0], to)
			switch {
			case !down[e] && !seen[to]:
				seen[to] = true
				queue = append(queue, to)
			case down[e] && (to == self || reached[to] != 0):
				names = append(names, fmt.Sprintf("%d-%d", e[0], e[1]))
			}
		}
	}
	why := "no link leads to it"
	if len(names) > 0 {
		slices.Sort(names)
		why = "these links are down, and no others lead to it: " + strings.Join(names, ", ")
	}
	return &carrier.GoneError{Rank: rank, Why: why}
}
