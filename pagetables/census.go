// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"cmp"
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
	wordJobs
	wordMoves
	censusWords
)

// Words of struct tpsl_census_job.
const (
	jobNext = iota
	jobNumber
	jobRanks
	jobRank // and its stride, as the two that follow
	_
	jobThread
	_
	jobOwner
	_
	jobWords
)

// A census is what process/census.c tells of a process.
type census struct {
	process int // its id, in its own namespace
	once    uint64
	ranks   []censusRank
	objects []censusObject

	counters, seen [3]uint64 // of changes: their addresses, and what they said
}

type censusRank struct {
	Rank
	instance uint64
	home     home
}

// home is struct tpsl_home.
type home struct{ stack, stackEnd, threadLocals, heap uint64 }

type censusObject struct{ instance, start, end uint64 }

var errMoving = errors.New("jobs began or ended, or libraries were loaded or unloaded, while they were read: stop the process by kill -STOP meanwhile")

// readCensus reads the census at an address. A process that changes all the time gives what was
// seen the last time, and errMoving.
func readCensus(m memory, at uint64) (*census, error) {
	w, err := m.words(at, censusWords)
	if err != nil {
		return nil, err
	}
	if w[wordSize] == 0 {
		return nil, errNoCensus
	}
	if w[wordSize] < censusWords*8 || max(w[wordInstance], w[wordStart], w[wordEnd], w[wordHome]) > 1<<16 {
		return nil, fmt.Errorf("%w census at %#x", errMalformed, at)
	}
	var c *census
	for range 5 {
		c = &census{process: int(w[wordProcess]), once: w[wordOnce], counters: [...]uint64{w[wordPublished], w[wordWithdrawn], w[wordMoves]}}
		if c.seen, err = c.count(m); err != nil {
			return nil, err
		}
		err = errors.Join(c.readJobs(m, w), c.readObjects(m, w, min(c.seen[0], maxObjects)))
		if !c.isCurrent(m) {
			continue
		}
		return c, err
	}
	return c, errMoving
}

// count reads how often the process has changed.
func (c *census) count(m memory) (n [3]uint64, err error) {
	for i, at := range c.counters {
		if n[i], err = m.word(at); err != nil {
			return n, err
		}
	}
	return n, nil
}

// isCurrent tells whether the process has not changed since the census was read.
func (c *census) isCurrent(m memory) bool {
	now, err := c.count(m)
	return err == nil && now == c.seen
}

// readJobs follows the chain of jobs, each of which has ranks.
func (c *census) readJobs(m memory, w []uint64) error {
	at, err := m.word(w[wordJobs])
	for err == nil && at != 0 {
		var job []uint64
		if job, err = m.words(at, jobWords); err != nil {
			break
		}
		if job[jobRanks] == 0 || job[jobRanks]+uint64(len(c.ranks)) > maxRanks {
			return fmt.Errorf("%w job at %#x", errMalformed, at)
		}
		err = c.readRanks(m, w, job)
		at = job[jobNext]
	}
	slices.SortStableFunc(c.ranks, func(a, b censusRank) int { return cmp.Compare(a.Job, b.Job) })
	return err
}

func (c *census) readRanks(m memory, w, job []uint64) error {
	for i := range job[jobRanks] {
		column := func(word int) uint64 { return job[word] + i*job[word+1] }
		r := censusRank{Rank: Rank{Job: int(job[jobNumber])}}
		var errs [3]error
		r.Rank.Rank, errs[0] = m.number(column(jobRank))
		r.Thread, errs[1] = m.number(column(jobThread))
		r.instance, errs[2] = m.word(column(jobOwner))
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
	return pid == c.process || slices.ContainsFunc(c.ranks, func(r censusRank) bool { return r.Thread == pid })
}
