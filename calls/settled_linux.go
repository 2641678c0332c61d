// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// settlingAge is how long a thread must have been in a call before it may count as settled.
	settlingAge = time.Second
	// settlingTime is how long a thread is watched for whether it runs.
	settlingTime = 200 * time.Millisecond
)

// settle finds out which calls are settled: those that have lasted, and whose thread runs or sleeps by its own will. A thread that was
// stopped, or that got no CPU, may find what it waits for as soon as it runs.
func (b *Board) settle(ranks []Rank) {
	before := map[int]threadTime{}
	for _, r := range ranks {
		for _, c := range r.Calls {
			if c.Age >= settlingAge {
				before[c.Thread] = timeOf(c.Thread)
			}
		}
	}
	if len(before) == 0 {
		return
	}
	time.Sleep(settlingTime)
	for i := range ranks {
		for k := range ranks[i].Calls {
			c := &ranks[i].Calls[k]
			was, aged := before[c.Thread]
			is := timeOf(c.Thread)
			c.Settled = aged && is.state != "T" && is.state != "t" && is.state != "" && (is.state == "S" && was.state == "S" || is.ran != was.ran)
		}
	}
	b.dropChanged(ranks)
}

// dropChanged takes the mark from calls that have ended meanwhile.
func (b *Board) dropChanged(ranks []Rank) {
	now := b.read()
	for i := range ranks {
		for k := range ranks[i].Calls {
			c := &ranks[i].Calls[k]
			c.Settled = c.Settled && now != nil && slices.ContainsFunc(now[i].Calls, func(n Call) bool { return n.Thread == c.Thread && n.Age >= c.Age })
		}
	}
}

// A threadTime says what a thread does, and how long it has run.
type threadTime struct {
	state string // as in proc(5); "" if there is no such thread
	ran   string
}

func timeOf(thread int) threadTime {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", thread)) // threads are found by their id, though they are not listed
	schedstat, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", thread))
	at := bytes.LastIndex(stat, []byte(") "))
	if err != nil || err2 != nil || at < 0 || at+2 >= len(stat) {
		return threadTime{}
	}
	ran, _, _ := strings.Cut(string(schedstat), " ")
	return threadTime{state: string(stat[at+2 : at+3]), ran: ran}
}
