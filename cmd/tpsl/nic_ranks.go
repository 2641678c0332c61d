// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/pagetables"
)

// A rankUse is what a rank has made of RDMA devices.
type rankUse struct {
	Rank     int           `json:"rank"`          // -1: a context of the process that is no rank's for certain
	Job      int           `json:"job,omitempty"` // as in pagetables.Rank
	PID      int           `json:"pid"`
	Contexts []*ib.Context `json:"contexts"`
}

// A nodeCount sums the queue pairs of the ranks that were looked at. The formulae are there if these are all of the job's
// ranks on this host.
type nodeCount struct {
	QPs      map[string]int `json:"qps"` // by type
	Formulae *formulae      `json:"formulae,omitempty"`
}

// formulae say how many queue pairs the node has where each rank is connected with each rank of other nodes.
type formulae struct {
	Here      int `json:"here"` // ranks
	Elsewhere int `json:"elsewhere"`
	NICs      int `json:"nics"` // that a rank drives
	RC        int `json:"rc"`
	XRC       int `json:"xrc"`
	UD        int `json:"ud"`
}

// lookAt notes what the ranks of processes have made.
func (report *nicReport) lookAt(pids []int) []error {
	processes, errs := pagetables.Proc("/proc").Ranks(pids)
	contexts, err := ib.Contexts()
	if err != nil {
		return append(errs, err)
	}
	for _, process := range processes {
		report.Ranks = append(report.Ranks, share(process, contexts)...)
	}
	slices.SortStableFunc(report.Ranks, func(a, b rankUse) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(uint(a.Rank), uint(b.Rank)))
	})
	if len(processes) > 0 {
		report.Sum = count(report.Ranks, environ(processes[0].PID))
	}
	return errs
}

// share deals out the contexts of a process: one is the rank's whose thread has opened it, and those of a process with one
// rank are all that rank's.
func share(process *pagetables.Process, contexts []*ib.Context) []rankUse {
	var all []rankUse
	for _, rank := range process.Ranks {
		all = append(all, rankUse{Rank: rank.Rank, Job: rank.Job, PID: process.PID})
	}
	rest := rankUse{Rank: -1, PID: process.PID}
	for _, context := range contexts {
		owner := &rest
		i := slices.IndexFunc(process.Ranks, func(r pagetables.Rank) bool { return r.Thread == context.Thread && r.Thread != 0 })
		switch {
		case i >= 0:
			owner = &all[i]
		case !hasThread(process.PID, context.Thread):
			continue
		case len(all) == 1 && all[0].Job == 0:
			owner = &all[0]
		}
		owner.Contexts = append(owner.Contexts, context)
	}
	if rest.Contexts != nil {
		all = append(all, rest)
	}
	return all
}

func hasThread(pid, thread int) bool {
	_, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid), "task", strconv.Itoa(thread)))
	return err == nil
}

// environ reads what a process was started with. One that may not be read has nothing.
func environ(pid int) []string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return strings.Split(string(text), "\x00")
}

// count sums what ranks have made. env tells their world.
func count(ranks []rankUse, env []string) *nodeCount {
	sum := &nodeCount{QPs: map[string]int{}}
	here, nics := 0, 0
	for _, rank := range ranks {
		devices := map[string]bool{}
		for _, context := range rank.Contexts {
			for kind, n := range context.QPs {
				sum.QPs[kind] += n
				devices[context.Device] = true
			}
		}
		nics = max(nics, len(devices))
		if rank.Rank >= 0 {
			here++
		}
	}
	number := func(name string) int {
		text, _ := plan.Getenv(env, name)
		n, _ := strconv.Atoi(text)
		return n
	}
	if world := number("PMI_SIZE"); world >= here && number("MPI_LOCALNRANKS") == here {
		s := ib.Share{Here: here, Elsewhere: world - here, NICs: nics}
		sum.Formulae = &formulae{Here: here, Elsewhere: s.Elsewhere, NICs: nics, RC: s.RC(), XRC: s.XRC(), UD: s.UD()}
	}
	return sum
}

func (report *nicReport) printRanks(w io.Writer) {
	if report.Sum == nil {
		return
	}
	kinds := slices.Sorted(maps.Keys(report.Sum.QPs))
	heads := []string{"RANK", "PID", "DEVICE"}
	for _, kind := range kinds {
		heads = append(heads, kind+" QPS")
	}
	row(w, append(heads, "CQS", "MRS")...)
	for _, rank := range report.Ranks {
		name := ""
		if rank.Rank >= 0 {
			name = pagetables.RankName(rank.Rank, rank.Job)
		}
		for _, c := range rank.Contexts {
			fields := []string{name, strconv.Itoa(rank.PID), c.Device}
			for _, kind := range kinds {
				fields = append(fields, strconv.Itoa(c.QPs[kind]))
			}
			row(w, append(fields, strconv.Itoa(c.CQs), strconv.Itoa(c.MRs))...)
		}
		if len(rank.Contexts) == 0 {
			row(w, append([]string{name, strconv.Itoa(rank.PID), "none"}, make([]string, len(kinds)+2)...)...)
		}
	}
	report.Sum.print(w, kinds)
}

func (sum *nodeCount) print(w io.Writer, kinds []string) {
	if len(kinds) == 0 {
		fmt.Fprintln(w, "\nThese ranks have made no queue pairs.")
		return
	}
	fmt.Fprint(w, "\nQueue pairs of these ranks:")
	for _, kind := range kinds {
		fmt.Fprintf(w, " %d %s", sum.QPs[kind], kind)
	}
	fmt.Fprintln(w)
	if f := sum.Formulae; f != nil {
		fmt.Fprintf(w, "By formula for %d here and %d elsewhere, each by %d NIC(s): %d RC, or %d XRC, or %d UD\n", f.Here, f.Elsewhere, f.NICs, f.RC, f.XRC, f.UD)
	}
}
