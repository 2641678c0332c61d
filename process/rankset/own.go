// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"cmp"
	"fmt"
	"strconv"
)

// What lets a process make a job of its own, without a launcher.
const (
	Variable = "TPSL_RANKS"
	Call     = "TPSL_Run"
	Team     = "OpenMP team"
)

// Wanted returns how many ranks a process is to make a job of, and what says so. team is the size of the OpenMP team that its first
// MPI call comes from, 0: it comes from none. "": the launcher has made the job, or the process is a job of one rank.
func Wanted(getenv func(string) string, team int) (ranks int, own string, err error) {
	word, launched := getenv(Variable), cmp.Or(getenv("PMI_FD"), getenv("PMI_ID"), getenv("PMIX_RANK")) != ""
	switch {
	case word != "" && launched:
		return 0, "", fmt.Errorf("%s=%s is for programs that are started without a launcher, and a launcher has started this one: unset it, or leave the launcher out", Variable, word)
	case word != "":
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return 0, "", fmt.Errorf("%s=%q: want a whole number of ranks, 1 or more", Variable, word)
		}
		return n, Variable, nil
	case team > 1 && !launched:
		return team, Team, nil
	}
	return 0, "", nil
}

// New returns the set of all ranks of a job that the process makes itself. pmi has the descriptor of each rank's session.
func New(own string, pmi []int) *Set {
	n := len(pmi)
	s := &Set{Own: own, Size: n, LocalRanks: n, ControlFD: -1}
	for rank, fd := range pmi {
		s.Ranks = append(s.Ranks, rank)
		s.PMI = append(s.PMI, strconv.Itoa(fd))
		s.LocalIDs = append(s.LocalIDs, strconv.Itoa(rank))
	}
	return s
}

// Setting returns what says how many ranks a process has, for messages: own is as in Set.
func Setting(own string) string {
	if own == Call {
		return "number of ranks"
	}
	return cmp.Or(own, "-rpp")
}

// Start returns how to start more ranks in the process, in front of a number, for messages.
func (s *Set) Start() string {
	switch s.Own {
	case "":
		return "mpiexec -rpp "
	case Variable:
		return Variable + "="
	}
	return s.Own + " of "
}

// ofLauncher returns what a launcher of the job would have put into the environment of the process: MPI libraries look for it.
func (s *Set) ofLauncher(getenv func(string) string) (env []string) {
	if s.Own == "" {
		return nil
	}
	env = append(env, "MPI_LOCALNRANKS="+strconv.Itoa(len(s.Ranks)))
	if getenv("PMI_SPAWNED") != "" { // of the launcher that has started the process
		env = append(env, "PMI_SPAWNED=0")
	}
	// Ranks of one address space cannot have a window at the same address each, which MPICH tries 100 times.
	if len(s.Ranks) > 1 && getenv("MPIR_CVAR_SHM_SYMHEAP_RETRY") == "" {
		env = append(env, "MPIR_CVAR_SHM_SYMHEAP_RETRY=0")
	}
	return env
}
