// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The model has the shared words of Bit.Set, ready.take and Worker.rest, one atomic
// operation a step, for signallers that each wake one thread of two words under one
// hint. All orders of the steps are tried. order says in which order the code does
// things; the other orders are there to show that each matters and that the model sees it.
type order struct {
	hintFirst    bool // Set raises the hint before it sets the bit
	wordsFirst   bool // take empties the words before it takes the hint
	noLook       bool // rest does not look again after it armed the bell
	alwaysSilent bool // Set does not ring
	silentIfSet  bool // Set does nothing more if the bit was set already, which is right
}

const (
	signallers = 3
	modelWords = 2
)

// world is one state: the shared words, and where everybody is.
type world struct {
	word   [modelWords]uint8
	hint   bool
	asleep bool
	flag   [signallers]bool // what the thread waits for
	seen   [signallers]bool // its thread ran with the flag set
	at     [signallers]int8 // the next step of a signaller
	worker int8             // the next step of the worker
	mine   uint8            // the worker's snapshot of a word
}

// Threads 0 and 2 share a word; so do their signallers.
func spot(i int) (word int, mask uint8) { return i % modelWords, 1 << i }

const (
	setFlag = iota
	setBit
	seeHint
	raiseHint
	ringBell
	finished
)

// signal does a signaller's next step.
func (o order) signal(w world, i int) world {
	word, mask := spot(i)
	next := w.at[i] + 1
	switch w.at[i] {
	case setFlag:
		w.flag[i] = true
		if o.hintFirst {
			next = seeHint
		}
	case setBit:
		had := w.word[word]&mask != 0
		w.word[word] |= mask
		if had && o.silentIfSet || o.hintFirst {
			next = finished
		}
	case seeHint:
		if w.hint {
			next = o.afterHint()
		}
	case raiseHint:
		w.hint = true
	case ringBell: // a load and a compare-and-swap, which only the one in between could tell apart
		if !o.alwaysSilent {
			w.asleep = false
		}
		next = o.afterHint()
	}
	w.at[i] = next
	return w
}

func (o order) afterHint() int8 {
	if o.hintFirst {
		return setBit
	}
	return finished
}

const (
	takeHint  = iota // look at the hint, and take it if it is up
	takeWord0        // take a word
	runWord0         // run its threads
	takeWord1
	runWord1
	arm
	lookAgain
	sleep
)

// work does the worker's next step; false if it sleeps.
func (o order) work(w world) (world, bool) {
	next := w.worker + 1
	switch w.worker {
	case takeHint:
		if !w.hint {
			next = arm
		}
		if !o.wordsFirst {
			w.hint = false
		}
	case takeWord0, takeWord1:
		word := (w.worker - takeWord0) / 2
		w.mine, w.word[word] = w.word[word], 0
	case runWord0, runWord1:
		for i := range signallers {
			if _, mask := spot(i); w.mine&mask != 0 && w.flag[i] {
				w.seen[i] = true
			}
		}
		w.mine = 0
		if w.worker == runWord1 {
			next = takeHint
			if o.wordsFirst {
				w.hint = false
			}
		}
	case arm:
		w.asleep = true
		if o.noLook {
			next = sleep
		}
	case lookAgain:
		if w.hint {
			w.asleep = false
			next = takeHint
		}
	case sleep:
		if w.asleep {
			return w, false
		}
		next = takeHint
	}
	w.worker = next
	return w, true
}

// lost tries all orders from the beginning and returns an end in which the worker
// sleeps though a thread has not seen its flag.
func (o order) lost() (end world, found bool, states int) {
	known := map[world]bool{{}: true}
	for todo := []world{{}}; len(todo) > 0; {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		visit := func(next world) {
			if !known[next] {
				known[next] = true
				todo = append(todo, next)
			}
		}
		running := false
		for i := range signallers {
			if w.at[i] != finished {
				running = true
				visit(o.signal(w, i))
			}
		}
		if next, awake := o.work(w); awake {
			visit(next)
		} else if !running && w.seen != [signallers]bool{true, true, true} {
			return w, true, len(known)
		}
	}
	return world{}, false, len(known)
}

func TestNoOrderOfStepsLosesASignal(t *testing.T) {
	end, found, states := order{}.lost()
	assert.False(t, found, "%+v", end)
	t.Logf("%d states", states)
	_, found, _ = order{silentIfSet: true}.lost()
	assert.False(t, found)
}

func TestEachOrderInTheCodeMatters(t *testing.T) {
	for name, o := range map[string]order{
		"the hint before the bit":          {hintFirst: true},
		"the words before the hint":        {wordsFirst: true},
		"no look after the bell is armed":  {noLook: true},
		"the hint raised without the bell": {alwaysSilent: true},
	} {
		_, found, _ := o.lost()
		assert.True(t, found, name)
	}
}
