// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/calls"
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/executable"
	"github.com/tpsl/tpsl/internal/installation"
	"github.com/tpsl/tpsl/internal/soname"
)

// makeBoard makes the board on which the ranks note their calls, if the user wants that.
func (p *proxy) makeBoard(sets []plan.RankSet) error {
	if !p.host.State {
		return nil
	}
	ranks := make([]calls.LocalRank, p.host.Ranks)
	for space, set := range sets {
		for i, rank := range set.Ranks {
			ranks[set.Local+i] = calls.LocalRank{Rank: rank, Space: space}
		}
	}
	board, err := calls.NewBoard(ranks, p.host.Profile)
	p.mu.Lock() // mpiexec may ask for it already
	defer p.mu.Unlock()
	p.board = board
	return err
}

// addCalls has ld.so put the library that notes calls, or counts them as well, in front of the MPI library of a process that is one rank. Elsewhere the
// loader puts it into the instance of each rank.
func (p *proxy) addCalls(s *start) error {
	if p.board == nil || len(s.set.Ranks) > 1 || s.exe.IsPrivate() || s.exe.HasStandIn() || executable.IsOverLibtpsl(s.exe.Path, p.programs[s.set.Program]) {
		return nil
	}
	library, option := soname.Calls, "-state"
	if p.host.Profile {
		library, option = soname.Profile, "-profile"
	}
	file, err := installation.File(library)
	if err != nil {
		return fmt.Errorf("option %s: %w; install tpsl anew", option, err)
	}
	if strings.ContainsAny(file, " :;") {
		return fmt.Errorf("option %s cannot name %q to ld.so, which cuts it at a space, colon or semicolon; install tpsl elsewhere", option, file)
	}
	s.preload(file)
	return nil
}

// preload puts a library in front of those that the user preloads.
func (s *start) preload(file string) {
	setting := "LD_PRELOAD=" + file
	if theirs, _ := plan.Getenv(s.env, "LD_PRELOAD"); theirs != "" {
		setting += ":" + theirs
	}
	s.own, s.env = append(s.own, setting), plan.SetEnv(s.env, setting)
}

// tellCounts sends what the ranks have counted, when they have ended: a frame for each rank.
func (p *proxy) tellCounts() {
	var places calls.Places
	for _, counts := range p.board.Counts() {
		p.conn.SendValue(channel.Counted, channel.Counts{Counts: counts, Places: places.Of(counts), CPUs: runtime.NumCPU()})
	}
}

// tellTime answers a question for the host's time.
func (p *proxy) tellTime(question int) {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // cannot fail for this clock
	p.conn.Send(channel.Timed, question, binary.BigEndian.AppendUint64(nil, uint64(now.Nano())))
}
