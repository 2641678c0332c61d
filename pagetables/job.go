// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Job reads the processes of ranks among the given ones. One that is none stands for those
// below it that are: the id of mpiexec is that of its job on this host. What cannot be
// read is an error each, beside the processes that can.
func (p Proc) Job(pids []int) (all []*Process, errs []error) {
	found, errs := p.surveyed(pids)
	for _, r := range found {
		if err := r.finish(); err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, r.Process)
	}
	return all, errs
}

// Ranks is Job without the figures: it reads who the ranks are, and little else.
func (p Proc) Ranks(pids []int) (all []*Process, errs []error) {
	found, errs := p.surveyed(pids)
	for _, r := range found {
		all = append(all, r.Process)
	}
	return all, errs
}

// surveyed finds out who the ranks are. Processes of one address space are one.
func (p Proc) surveyed(pids []int) (all []*reading, errs []error) {
	seen := map[string]bool{}
	for _, pid := range pids {
		found, bad := p.ranksBelow(pid)
		errs = append(errs, bad...)
		for _, r := range found {
			key := r.same
			if key == "" {
				key = strconv.Itoa(r.PID)
			}
			if !seen[key] {
				all = append(all, r)
			}
			seen[key] = true
		}
	}
	return all, errs
}

// ranksBelow surveys a process of ranks, else those below the process.
func (p Proc) ranksBelow(pid int) (all []*reading, errs []error) {
	r, err := p.surveyRanks(pid)
	if err == nil {
		return []*reading{r}, nil
	}
	if !errors.Is(err, ErrNoRank) {
		return nil, []error{err}
	}
	below, incomplete := p.below(pid)
	none := err
	for _, pid := range below {
		r, err := p.surveyRanks(pid)
		switch {
		case err == nil:
			all = append(all, r)
		case MayHaveRanks(err):
			none = err
		case !errors.Is(err, ErrNoRank) && !errors.Is(err, ErrGone): // a helper of the launcher may end meanwhile
			errs = append(errs, err)
		}
	}
	if len(all) == 0 && len(errs) == 0 {
		errs = append(errs, none)
	}
	if incomplete {
		errs = append(errs, fmt.Errorf("process %d: %w: /proc hides others' processes, so there may be more ranks", pid, ErrDenied))
	}
	return all, errs
}

// surveyRanks surveys a process of ranks; others are an error.
func (p Proc) surveyRanks(pid int) (*reading, error) {
	r, err := p.begin(pid)
	if err != nil {
		return nil, err
	}
	switch {
	case !r.mayHaveRanks:
		return nil, fmt.Errorf("process %d (%s): %w, and no process below it is: name the processes of ranks, or their mpiexec", pid, r.Command, ErrNoRank)
	case len(r.Ranks) == 0 && len(r.Partial) == 0 && r.census != nil:
		return nil, fmt.Errorf("process %d (%s): %w%w", pid, r.Command, ErrNoRank, errNotNow)
	case len(r.Ranks) == 0 && len(r.Partial) == 0:
		return nil, fmt.Errorf("process %d (%s): %w%w", pid, r.Command, ErrNoRank, errNotYet)
	}
	return r, nil
}

// below lists the processes below one. incomplete: /proc hides some.
func (p Proc) below(pid int) (all []int, incomplete bool) {
	entries, err := os.ReadDir(string(p))
	children := map[int][]int{}
	for _, entry := range entries {
		child, notProcess := strconv.Atoi(entry.Name())
		if notProcess != nil {
			continue
		}
		stat, err := os.ReadFile(p.path(child, "stat"))
		if errors.Is(err, os.ErrPermission) {
			incomplete = true
			continue
		}
		parent, _ := parseStat(string(stat))
		children[parent] = append(children[parent], child)
	}
	for next := children[pid]; len(next) > 0; next = next[1:] {
		all = append(all, next[0])
		next = slices.Concat(next, children[next[0]])
		delete(children, next[0])
	}
	return all, incomplete || err != nil
}

// isMPI tells a file of an MPI library by its name, as far as ranks may be linked with it.
func isMPI(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "libmpich.so.") || strings.HasPrefix(base, "libmpi.so.")
}

// rankOf reads the number of a process's only rank from its environment, as launchers set it.
func (p Proc) rankOf(pid int) (int, bool) {
	text, err := os.ReadFile(p.path(pid, "environ"))
	if err != nil {
		return 0, false
	}
	for _, name := range []string{"PMI_RANK", "PMI_ID", "PMIX_RANK", "SLURM_PROCID"} {
		for setting := range strings.SplitSeq(string(text), "\x00") {
			if value, ok := strings.CutPrefix(setting, name+"="); ok {
				n, err := strconv.Atoi(value)
				return n, err == nil && n >= 0
			}
		}
	}
	return 0, true // a job of one rank
}
