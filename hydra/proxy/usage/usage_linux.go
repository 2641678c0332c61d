// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
)

const (
	// tick is the unit of times in /proc/PID/stat. It is the same for all programs of Linux on x86-64 and arm64 (USER_HZ).
	tick = 10 * time.Millisecond
	// mostThreads is how many threads of a rank are looked at: more would take too long.
	mostThreads = 256
)

// A Rank says what a rank is.
type Rank struct {
	Rank    int
	PID     int   // of its process; 0: it has none
	Threads []int // its threads in a process of several ranks; empty if the process is the rank's own
}

// A Counter sums up what ranks have used. It is for one goroutine.
type Counter struct {
	proc  string                // a proc filesystem
	calls int                   // of Count
	last  map[string]reading    // by file
	total map[int]channel.Usage // by rank
}

// A reading is what a file of /proc told, and in which call of Count.
type reading struct {
	usage channel.Usage
	call  int
}

// NewCounter counts from the first call of Count on.
func NewCounter() *Counter {
	return &Counter{proc: "/proc", last: map[string]reading{}, total: map[int]channel.Usage{}}
}

// Count returns what the ranks have used since it was called first with them. A rank is missing if nothing is known of it.
func (c *Counter) Count(ranks []Rank) map[int]channel.Usage {
	c.calls++
	for _, r := range ranks {
		switch {
		case r.PID == 0:
		case len(r.Threads) == 0:
			c.countProcess(r)
		default:
			for _, thread := range r.Threads[:min(len(r.Threads), mostThreads)] {
				folder := c.path(r.PID, "task", strconv.Itoa(thread))
				c.add(r.Rank, filepath.Join(folder, "stat"), times)
				c.add(r.Rank, filepath.Join(folder, "status"), switches)
			}
		}
	}
	for file, last := range c.last {
		if last.call != c.calls {
			delete(c.last, file)
		}
	}
	return c.total
}

// countProcess counts a rank that is a process. The kernel sums up times and page faults, also those of threads that have ended, and
// context switches by thread only.
func (c *Counter) countProcess(r Rank) {
	c.add(r.Rank, c.path(r.PID, "stat"), times)
	threads, err := os.ReadDir(c.path(r.PID, "task"))
	if err != nil {
		return // it has ended
	}
	for _, thread := range threads[:min(len(threads), mostThreads)] {
		c.add(r.Rank, c.path(r.PID, "task", thread.Name(), "status"), switches)
	}
}

func (c *Counter) path(pid int, names ...string) string {
	return filepath.Join(append([]string{c.proc, strconv.Itoa(pid)}, names...)...)
}

// add adds to a rank what a file tells beyond the last time. What a file told the first time was before.
func (c *Counter) add(rank int, file string, parse func(string) (channel.Usage, bool)) {
	text, err := os.ReadFile(file)
	if err != nil {
		return // it has ended
	}
	usage, ok := parse(string(text))
	if !ok {
		return
	}
	total := c.total[rank]
	if before, known := c.last[file]; known && !usage.LessThan(before.usage) { // less: of a later thread of the same number
		total.Add(usage.Since(before.usage))
	}
	c.total[rank], c.last[file] = total, reading{usage, c.calls}
}

// times reads processor time and page faults: the fields minflt, majflt, utime and stime of proc_pid_stat(5).
func times(stat string) (u channel.Usage, ok bool) {
	const minor, major, user, system = 10 - 3, 12 - 3, 14 - 3, 15 - 3 // the third field is the first behind the command
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= system {
		return u, false
	}
	var values [system + 1]uint64
	for _, i := range []int{minor, major, user, system} {
		value, err := strconv.ParseUint(fields[i], 10, 63)
		if err != nil {
			return u, false
		}
		values[i] = value
	}
	u.CPU = time.Duration(values[user]+values[system]) * tick
	u.Faults = values[minor] + values[major]
	return u, true
}

// switches reads context switches from proc_pid_status(5).
func switches(status string) (u channel.Usage, ok bool) {
	found := 0
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		count, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
		switch {
		case err != nil:
		case name == "voluntary_ctxt_switches":
			u.Voluntary = count
			found++
		case name == "nonvoluntary_ctxt_switches":
			u.Involuntary = count
			found++
		}
	}
	return u, found == 2
}

// Resident returns the resident memory of a process in bytes: the second field of proc_pid_statm(5). It is 0 if that is not known.
func Resident(pid int) uint64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(string(fields[1]), 10, 50)
	return pages * uint64(os.Getpagesize())
}
