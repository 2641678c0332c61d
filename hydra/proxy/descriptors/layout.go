// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package descriptors

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/ranges"
)

// A Layout says which descriptors the process of a rank set inherits. There are no others.
type Layout struct {
	Ranks    []int
	Readers  plan.Ranks // ranks with an input; the other ranks read an empty input
	PerRank  bool       // each rank has standard streams of its own; if not, all share those of the process
	Sessions bool       // there is a PMI session for each rank
	Control  bool       // there is a pipe for the lines of package control
	Board    *os.File   // in which the ranks note their calls; nil if they do not
}

// A use is what one descriptor is for. The slot is that of the rank it is for, or 0 for the process.
type use struct {
	role role
	slot int
}

type role int

const (
	input role = iota
	emptyInput
	stdout
	stderr
	session
	control
	board
)

// uses lists what each descriptor is for, in the order of their numbers, from 0.
func (l Layout) uses() []use {
	list := []use{{emptyInput, 0}, {stdout, 0}, {stderr, 0}}
	sharers := l.Ranks // of the standard streams
	if l.PerRank {
		sharers = l.Ranks[:1]
	}
	if l.Readers.HoldAny(sharers) {
		list[0].role = input
	}
	if l.Sessions {
		for slot := range l.Ranks {
			list = append(list, use{session, slot})
		}
	}
	if l.Control {
		list = append(list, use{control, 0})
	}
	if l.Board != nil {
		list = append(list, use{board, 0})
	}
	for slot := len(sharers); slot < len(l.Ranks); slot++ {
		list = append(list, use{stdout, slot}, use{stderr, slot})
	}
	for slot := len(sharers); slot < len(l.Ranks); slot++ {
		if l.Readers.Hold(l.Ranks[slot]) {
			list = append(list, use{input, slot})
		}
	}
	return list
}

// Count returns how many ends of these descriptors the launcher keeps.
func (l Layout) Count() int {
	return len(slices.DeleteFunc(l.uses(), func(u use) bool { return u.role == emptyInput || u.role == board }))
}

// Settings returns the variables that tell the process which descriptor is for what.
func (l Layout) Settings() []string {
	number := map[use]int{}
	for fd, u := range l.uses() {
		number[u] = fd
	}
	var settings, streams []string
	if l.Sessions {
		var fds []int
		for slot := range l.Ranks {
			fds = append(fds, number[use{session, slot}])
		}
		settings = append(settings, "PMI_FD="+ranges.List(fds))
	}
	if l.Control {
		settings = append(settings, "TPSL_CONTROL_FD="+strconv.Itoa(number[use{control, 0}]))
	}
	if l.Board != nil {
		settings = append(settings, "TPSL_BOARD_FD="+strconv.Itoa(number[use{board, 0}]))
	}
	if !l.PerRank || len(l.Ranks) == 1 {
		return settings // the process has the streams of its ranks
	}
	for slot := range l.Ranks {
		fds := []int{number[use{stdout, slot}], number[use{stderr, slot}]}
		if fd, reads := number[use{input, slot}]; reads {
			fds = append(fds, fd)
		}
		streams = append(streams, ranges.List(fds))
	}
	return append(settings, "TPSL_STDIO="+strings.Join(streams, ";"))
}
