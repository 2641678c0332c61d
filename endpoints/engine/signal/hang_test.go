// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// saturate has each process send to all others, in the order of their distance along the ring, while nobody waits. The test moves the processes on in
// turn, so that the run is the same each time, until nothing moves any more. It returns how many messages did not come.
func saturate(t *testing.T, torus *Torus, each, buffers int, isFlat bool) (missing int) {
	testsupport.NothingLeft(t)
	size := torus.Size()
	missing = size * (size - 1) * each
	all := joined(t, overShm, torus, func(int) Options {
		return Options{Buffers: buffers, Polled: true, Message: func(Message) { missing-- }}
	})
	todo := make([][]*waiting, size)
	for from, n := range all {
		n.router.isFlat = isFlat
		for i := range each {
			for k := size - 1; k > 0; k-- {
				todo[from] = append(todo[from], &waiting{body: newBody((from+k)%size, from, uint32(i), nil), came: start, ready: true})
			}
		}
	}
	for still := 0; still < 3; still++ { // what one sends in a round, another takes in the next
		for from, n := range all {
			for len(todo[from]) > 0 && len(n.own) < cap(n.own) {
				n.own <- todo[from][0]
				todo[from] = todo[from][1:]
				still = 0
			}
			// One step, not all that is possible: so the processes fill their links at the same time.
			if n.router.own == nil && len(n.own) > 0 {
				n.router.own = <-n.own
			}
			if n.router.step(n.send) {
				still = 0
			}
		}
		for _, n := range all {
			if n.Poll() {
				still = 0
			}
		}
	}
	if missing > 0 { // what hangs is not to be waited for
		for _, n := range all {
			n.router.own, n.own = nil, nil
			for i := range n.router.links {
				n.router.links[i].in, n.router.links[i].owed = nil, nil
			}
		}
	}
	return missing
}

// Without the classes the same messages hang in the running network that come with them, whatever the dimension.
func TestOnlyClassesKeepItFromHanging(t *testing.T) {
	for _, c := range []struct{ size, dimensions, each, buffers int }{{4, 1, 4, 1}, {8, 1, 4, 2}, {16, 2, 4, 1}, {64, 3, 1, 1}} {
		t.Run(fmt.Sprintf("%d in %dD, %d buffers", c.size, c.dimensions, c.buffers), func(t *testing.T) {
			torus := torus(t, c.size, c.dimensions)
			assert.NotZero(t, saturate(t, torus, c.each, c.buffers, true), "without classes everything came: the control shows nothing")
			assert.Zero(t, saturate(t, torus, c.each, c.buffers, false))
		})
	}
}
