// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"errors"
	"fmt"
	"slices"
)

// Limits of what a census may say: far above what runs, and small enough to be held.
const (
	maxRanks     = 1 << 12
	maxObjects   = 1 << 17
	maxHeaps     = 1 << 16
	maxArenas    = 1 << 6
	maxLibraries = 16
)

// Words of struct tpsl_census, process/census.h.
const (
	wordSize = iota
	wordObjects
	wordInstance
	wordStart
	wordEnd
	wordHome
	wordOnce
	wordPublished
	wordWithdrawn
	wordProcess
	wordRank // and its stride, as the two that follow
	_
	wordThread
	_
	wordOwner
	_
	wordRanks
	censusWords
)

// A census is what process/census.c tells of a process.
type census struct {
	process int // its id, in its own namespace
	once    uint64
	ranks   []censusRank
	objects []censusObject
}

type censusRank struct {
	rank, thread int
	instance     uint64
	home         home
}

// home is struct tpsl_home.
type home struct{ stack, stackEnd, threadLocals, heap uint64 }

type censusObject struct{ instance, start, end uint64 }

var errMoving = errors.New("libraries were loaded or unloaded while they were read")

// readCensus reads the census at an address. A process that loads and unloads all the time
// gives what was seen the last time, and errMoving.
func readCensus(m memory, at uint64) (*census, error) {
	w, err := m.words(at, censusWords)
	if err != nil {
		return nil, err
	}
	if w[wordRanks] == 0 {
		return nil, errNoCensus
	}
	if w[wordSize] < censusWords*8 || w[wordRanks] > maxRanks || max(w[wordInstance], w[wordStart], w[wordEnd], w[wordHome]) > 1<<16 {
		return nil, fmt.Errorf("%w census at %#x", errMalformed, at)
	}
	var c *census
	for range 5 {
		before, err := changes(m, w)
		if err != nil {
			return nil, err
		}
		c = &census{process: int(w[wordProcess]), once: w[wordOnce]}
		err = errors.Join(c.readRanks(m, w), c.readObjects(m, w, min(before[0], maxObjects)))
		if after, err := changes(m, w); err != nil || after != before {
			continue
		}
		return c, err
	}
	return c, errMoving
}

func changes(m memory, w []uint64) ([2]uint64, error) {
	published, err := m.word(w[wordPublished])
	if err != nil {
		return [2]uint64{}, err
	}
	withdrawn, err := m.word(w[wordWithdrawn])
	return [2]uint64{published, withdrawn}, err
}

func (c *census) readRanks(m memory, w []uint64) error {
	for i := range w[wordRanks] {
		column := func(word int) uint64 { return w[word] + i*w[word+1] }
		var r censusRank
		var errs [3]error
		r.rank, errs[0] = m.number(column(wordRank))
		r.thread, errs[1] = m.number(column(wordThread))
		r.instance, errs[2] = m.word(column(wordOwner))
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		if r.instance != 0 {
			h, err := m.words(r.instance+w[wordHome], 4)
			if err != nil {
				return err
			}
			r.home = home{h[0], h[1], h[2], h[3]}
		}
		c.ranks = append(c.ranks, r)
	}
	return nil
}

// readObjects follows the chain of at most so many objects.
func (c *census) readObjects(m memory, w []uint64, most uint64) error {
	const next = 3 * 8 // struct link_map: l_addr, l_name, l_ld, l_next
	fields := max(w[wordInstance], w[wordStart], w[wordEnd])/8 + 1
	at, err := m.word(w[wordObjects])
	for ; err == nil && at != 0; at, err = m.word(at + next) {
		o, err := m.words(at, int(fields))
		if err != nil {
			return err
		}
		object := censusObject{o[w[wordInstance]/8], o[w[wordStart]/8], o[w[wordEnd]/8]}
		if object.start >= object.end || (object.start|object.end)%pageSize != 0 || uint64(len(c.objects)) >= most {
			return fmt.Errorf("%w object at %#x", errMalformed, at)
		}
		c.objects = append(c.objects, object)
	}
	return err
}

// describes tells whether the process of an id is one that the census is about, and not
// one that inherited it.
func (c *census) describes(pid int) bool {
	return pid == c.process || slices.ContainsFunc(c.ranks, func(r censusRank) bool { return r.thread == pid })
}
