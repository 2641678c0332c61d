// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
)

// A hostClock is what is known of a host's CLOCK_MONOTONIC: how far it was ahead of that of mpiexec's host. It is read twice, when the
// ranks have begun and when the first of the host has ended, as clocks do not run equally fast.
type hostClock struct {
	readings []reading
	left     int           // questions that belong to the last reading and have still to be asked
	asked    time.Duration // when the last question was
}

// A reading is the best of several questions: the one that was answered soonest.
type reading struct {
	at, ahead time.Duration
	doubt     time.Duration // half of the time from question to answer
}

// timeQuestions are asked for a reading, one after the other, so that some that were delayed do no harm.
const timeQuestions = 8

func monotonic() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // cannot fail for this clock
	return time.Duration(now.Nano())
}

// readClock begins a reading of the clock of a proxy's host, if that matters.
func (j *Job) readClock(link *proxyLink, readings int) {
	c := &link.clock
	if j.plan.Profile == "" || len(j.proxies) == 1 || len(c.readings) != readings || c.left > 0 {
		return
	}
	c.readings, c.left = append(c.readings, reading{doubt: -1}), timeQuestions
	c.ask(link)
}

func (c *hostClock) ask(link *proxyLink) {
	c.left--
	c.asked = monotonic()
	link.conn.Send(channel.Time, 0, nil)
}

// clockRead takes the answer of a proxy.
func (j *Job) clockRead(e event) {
	c := &e.link.clock
	if len(e.frame.Body) != 8 || len(c.readings) == 0 {
		return
	}
	now := monotonic()
	doubt := (now - c.asked) / 2
	if last := &c.readings[len(c.readings)-1]; last.doubt < 0 || doubt < last.doubt {
		theirs := time.Duration(binary.BigEndian.Uint64(e.frame.Body))
		*last = reading{at: theirs, ahead: theirs - c.asked - doubt, doubt: doubt}
	}
	if c.left > 0 {
		c.ask(e.link)
	}
}

// ahead returns how far the clock was ahead at a time by that clock.
func (c *hostClock) ahead(at time.Duration) time.Duration {
	read := c.known()
	switch {
	case len(read) == 0:
		return 0
	case len(read) == 1 || read[0].at == read[1].at:
		return read[0].ahead
	}
	part := float64(at-read[0].at) / float64(read[1].at-read[0].at)
	return read[0].ahead + time.Duration(part*float64(read[1].ahead-read[0].ahead))
}

// doubt returns by how much ahead may be wrong.
func (c *hostClock) doubt() (most time.Duration) {
	for _, r := range c.known() {
		most = max(most, r.doubt)
	}
	return most
}

// known returns the readings that were answered.
func (c *hostClock) known() (read []reading) {
	for _, r := range c.readings {
		if r.doubt >= 0 {
			read = append(read, r)
		}
	}
	return read
}
