// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"strings"

	"github.com/tpsl/tpsl/calls"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/executable"
	"github.com/tpsl/tpsl/internal/installation"
	"github.com/tpsl/tpsl/internal/soname"
)

// makeBoard makes the board on which the ranks note their calls, if the user wants that.
func (p *proxy) makeBoard(sets []plan.RankSet) (err error) {
	if !p.host.State {
		return nil
	}
	ranks := make([]int, p.host.Ranks)
	for _, set := range sets {
		copy(ranks[set.Local:], set.Ranks)
	}
	p.board, err = calls.NewBoard(ranks)
	return err
}

// addCalls has ld.so put the library that notes calls in front of the MPI library of a process that is one rank. Elsewhere the
// loader puts it into the instance of each rank.
func (p *proxy) addCalls(s *start) error {
	if p.board == nil || len(s.set.Ranks) > 1 || s.exe.IsPrivate() || s.exe.HasStandIn() || executable.IsOverLibtpsl(s.exe.Path, p.programs[s.set.Program]) {
		return nil
	}
	file, err := installation.File(soname.Calls)
	if err != nil {
		return fmt.Errorf("option -state: %w; install tpsl anew", err)
	}
	if strings.ContainsAny(file, " :;") {
		return fmt.Errorf("option -state cannot name %q to ld.so, which cuts it at a space, colon or semicolon; install tpsl elsewhere", file)
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
