// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"strings"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/pmi"
)

// A meeting is a barrier of ranks of several worlds, which has no place in the tree of either. Its name is TAG, a space and
// the ranks of each world: "SPACE:0,1;SPACE:*".
type meeting struct {
	want, got int
	puts      []pmi.Entry
	arrived   []channel.Frame // of requests, by proxy and index
}

// meet notes that ranks of a host have come to a meeting. All are answered when all are there.
func (j *Job) meet(e event) {
	arrival, err := pmi.ParseArrival(e.frame.Body)
	var want int
	if err == nil {
		want, err = j.invited(arrival.Barrier)
	}
	if err != nil {
		j.garbled(e.link, err)
		return
	}
	m := j.meetings[arrival.Barrier]
	if m == nil {
		m = &meeting{want: want}
		j.meetings[arrival.Barrier] = m
	}
	m.got += arrival.Count
	m.puts = append(m.puts, arrival.Puts...)
	m.arrived = append(m.arrived, e.frame)
	if m.got < m.want {
		return
	}
	delete(j.meetings, arrival.Barrier)
	for _, frame := range m.arrived {
		done := pmi.Arrival{Barrier: arrival.Barrier, Count: m.want, Puts: m.puts}
		j.proxy(frame.Proxy).conn.Send(channel.Answer, frame.Index, done.Append(nil))
	}
}

// invited counts who is to come to a meeting.
func (j *Job) invited(name string) (count int, err error) {
	_, who, _ := strings.Cut(name, " ")
	for part := range strings.SplitSeq(who, ";") {
		space, list, _ := strings.Cut(part, ":")
		w := j.worldOf(space)
		switch {
		case w == nil:
			return 0, fmt.Errorf("ranks of %q are to meet: %w", space, errNoWorld)
		case list == "*":
			count += w.plan.Size
		default:
			count += strings.Count(list, ",") + 1
		}
	}
	return count, nil
}
