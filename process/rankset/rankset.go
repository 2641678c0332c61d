// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"fmt"
	"strconv"
	"strings"
)

// Set is what the launcher gave this process (docs/environment.md). Slices are
// in slot order.
type Set struct {
	Own            string // what let the process make the job itself: TPSL_RANKS, TPSL_Run or Team; "": nothing did
	Size           int    // of the world; 0: only the server of PMIx tells it
	Ranks          []int
	PMI            []string // fd of each rank's PMI session; empty: the ranks have none
	PMIx           bool     // the ranks are clients of a PMIx server
	LocalRanks     int      // ranks of the job on this host
	LocalIDs       []string
	CPUs           []string  // CPU list of each rank; empty: not pinned
	Stdio          []Streams // of each rank; empty: all have the process's
	Env            []string  // settings of each rank, "NAME=VALUE ..."; empty: none
	ControlFD      int       // -1: none
	Peers          bool      // the host may have other processes of the job
	Alike          bool      // the job's other processes, too, run this program for several ranks
	Crowded        bool      // ranks of the host are more than the CPUs they may use; Look says so
	NoRDMA         bool      // the host has no RDMA device; Look says so
	NoRegistration bool      // it has no other device to which memory is registered; Look says so
	NoXPMEM        bool      // it has no device of XPMEM; Look says so
}

// Streams names the descriptors of a rank's standard streams. Stdin is -1 for an empty one.
type Streams struct{ Stdin, Stdout, Stderr int }

// Parse reads the environment through getenv. Without PMI variables the
// process is a job of one rank, as with every MPI library.
func Parse(getenv func(string) string) (*Set, error) {
	s := &Set{Size: 1, Ranks: []int{0}, LocalRanks: 1, ControlFD: -1}
	var err error
	if id := getenv("PMI_ID"); getenv("PMI_FD") == "" && id != "" { // a launcher that listens at PMI_PORT
		s.Ranks, err = numbers("PMI_ID", id)
		s.Peers = true
		return s, err
	}
	switch {
	case getenv("PMI_FD") != "":
		err = s.parsePMI(getenv)
	case getenv("PMIX_RANK") != "":
		err = s.parsePMIx(getenv)
	default:
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	return s, s.parseProcess(getenv)
}

// parsePMI reads what the ranks' sessions of PMI are.
func (s *Set) parsePMI(getenv func(string) string) (err error) {
	if s.Ranks, err = numbers("PMI_RANK", getenv("PMI_RANK")); err != nil {
		return err
	}
	if s.Size, err = Number("PMI_SIZE", getenv("PMI_SIZE")); err != nil {
		return err
	}
	s.PMI = strings.Split(getenv("PMI_FD"), ",")
	if _, err := numbers("PMI_FD", getenv("PMI_FD")); err != nil {
		return err
	}
	s.Peers = s.Size > len(s.Ranks)
	return nil
}

// parsePMIx reads which clients of a PMIx server the ranks are. The other variables of PMIx are the same for all ranks of a host.
func (s *Set) parsePMIx(getenv func(string) string) (err error) {
	s.Ranks, err = numbers("PMIX_RANK", getenv("PMIX_RANK"))
	s.PMIx, s.Size, s.Peers = true, 0, true
	return err
}

// parseProcess reads what the launcher says of the process besides.
func (s *Set) parseProcess(getenv func(string) string) (err error) {
	s.LocalRanks = len(s.Ranks)
	if v := getenv("MPI_LOCALNRANKS"); v != "" {
		if s.LocalRanks, err = Number("MPI_LOCALNRANKS", v); err != nil {
			return err
		}
		s.Peers = s.LocalRanks > len(s.Ranks)
	}
	s.Alike = getenv("TPSL_ALIKE") == "1"
	if v := getenv("MPI_LOCALRANKID"); v != "" {
		s.LocalIDs = strings.Split(v, ",")
	}
	if v := getenv("TPSL_CPUS"); v != "" {
		s.CPUs = strings.Split(v, ";")
	}
	if v := getenv("TPSL_ENV"); v != "" {
		s.Env = strings.Split(v, ";")
		for setting := range strings.FieldsSeq(strings.ReplaceAll(v, ";", " ")) {
			if name, _, found := strings.Cut(setting, "="); !found || name == "" {
				return fmt.Errorf("environment: TPSL_ENV=%q: want \"NAME=VALUE ...\" of each rank with ; between", v)
			}
		}
	}
	if v := getenv("TPSL_STDIO"); v != "" {
		for _, entry := range strings.Split(v, ";") {
			fds, err := numbers("TPSL_STDIO", entry)
			if err != nil || len(fds) < 2 || len(fds) > 3 {
				return fmt.Errorf("environment: TPSL_STDIO=%q: want \"stdout,stderr\" or \"stdout,stderr,stdin\" of each rank with ; between", v)
			}
			s.Stdio = append(s.Stdio, Streams{append(fds, -1)[2], fds[0], fds[1]})
		}
	}
	if v := getenv("TPSL_CONTROL_FD"); v != "" {
		if s.ControlFD, err = Number("TPSL_CONTROL_FD", v); err != nil {
			return err
		}
	}
	return s.check()
}

// check refuses lists that do not belong together.
func (s *Set) check() error {
	for _, list := range []struct {
		name string
		n    int
	}{{"PMI_FD", len(s.PMI)}, {"MPI_LOCALRANKID", len(s.LocalIDs)}, {"TPSL_CPUS", len(s.CPUs)}, {"TPSL_ENV", len(s.Env)}, {"TPSL_STDIO", len(s.Stdio)}} {
		if list.n != 0 && list.n != len(s.Ranks) {
			return fmt.Errorf("environment: %s has %d entries for %d ranks in %s", list.name, list.n, len(s.Ranks), s.naming())
		}
	}
	for _, r := range s.Ranks {
		if !s.PMIx && r >= s.Size {
			return fmt.Errorf("environment: PMI_RANK names rank %d, but PMI_SIZE is %d", r, s.Size)
		}
	}
	return nil
}

// naming returns the variable that names the ranks.
func (s *Set) naming() string {
	if s.PMIx {
		return "PMIX_RANK"
	}
	return "PMI_RANK"
}

func numbers(name, list string) ([]int, error) {
	var ns []int
	for _, word := range strings.Split(list, ",") {
		n, err := Number(name, word)
		if err != nil {
			return nil, err
		}
		ns = append(ns, n)
	}
	return ns, nil
}

// Number reads the setting of an environment variable: a number from 0.
func Number(name, word string) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("environment: %s=%q: want a number from 0", name, word)
	}
	return n, nil
}

// alone tells whether the process has all ranks of a job of several.
func (s *Set) alone() bool {
	return len(s.Ranks) > 1 && len(s.Ranks) == s.Size
}

// Environment returns what the instance of a slot finds in its environment
// instead of the process's own.
func (s *Set) Environment(slot int, getenv func(string) string) []string {
	var env []string
	set := func(name, value string) { env = append(env, name+"="+value) }
	if len(s.PMI) > 0 {
		set("PMI_FD", s.PMI[slot])
		set("PMI_RANK", strconv.Itoa(s.Ranks[slot]))
		set("PMI_SIZE", strconv.Itoa(s.Size))
	}
	if s.PMIx {
		set("PMIX_RANK", strconv.Itoa(s.Ranks[slot]))
	}
	if len(s.LocalIDs) > 0 {
		set("MPI_LOCALRANKID", s.LocalIDs[slot])
	}
	env = append(env, s.ofLauncher(getenv)...)
	if len(s.Env) > 0 {
		env = append(env, strings.Fields(s.Env[slot])...)
	}
	for _, d := range defaults {
		if getenv(d.name) == "" && (d.only == nil || d.only(s, getenv)) {
			set(d.name, d.value)
		}
	}
	// One copy pays earlier between ranks of one address space than UCX believes, which
	// counts on a system call. The setting holds for every peer, so none may be elsewhere.
	if s.alone() && (s.Own != "" || getenv("PMI_SPAWNED") == "") && getenv("UCX_RNDV_THRESH") == "" {
		set("UCX_RNDV_THRESH", "8192")
	}
	return env
}
