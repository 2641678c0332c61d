// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/internal/version"
)

// A Report says how a job ended, in a form for programs. docs/launcher.md says what each field means. Later versions keep the names
// and may add new ones.
type Report struct {
	Schema   int             `json:"schema"` // 1; another number when a field changes its meaning
	Version  string          `json:"version"`
	Begin    time.Time       `json:"begin"`
	Seconds  float64         `json:"seconds"`
	ExitCode int             `json:"exit_code"`
	Messages []string        `json:"messages"`
	Hosts    []ReportHost    `json:"hosts"`
	Ranks    []ReportRank    `json:"ranks"`
	Failures []ReportFailure `json:"failures"`
}

// A ReportHost is one host of a [Report].
type ReportHost struct {
	Host  string `json:"host"`
	Proxy int    `json:"proxy"`
	Group int    `json:"group"`
	Ranks string `json:"ranks"`
}

// The states of a [ReportRank].
const (
	stateExited   = "exited"   // by itself, with a code
	stateSignaled = "signaled" // killed by a signal that did not come from mpiexec's end of the job
	stateEnded    = "ended"    // by mpiexec, because the job ended
	stateUnknown  = "unknown"  // never started, or lost with its proxy
)

// A ReportRank is one rank of a [Report]. Ranks of one process may share its end.
type ReportRank struct {
	Rank        int     `json:"rank"`
	Group       int     `json:"group"`
	Host        string  `json:"host"`
	Program     string  `json:"program"`
	State       string  `json:"state"`
	PID         int     `json:"pid,omitempty"`
	ExitCode    *int    `json:"exit_code,omitempty"`
	Signal      string  `json:"signal,omitempty"`
	Core        bool    `json:"core,omitempty"`
	CoreFile    string  `json:"core_file,omitempty"`
	OutOfMemory bool    `json:"out_of_memory,omitempty"`
	Seconds     float64 `json:"seconds,omitempty"`
}

// A ReportFailure is a process that broke the job. The first one decided its end.
type ReportFailure struct {
	Ranks  string   `json:"ranks"`
	Group  int      `json:"group"`
	Host   string   `json:"host"`
	Reason string   `json:"reason"`
	Stderr []string `json:"stderr,omitempty"` // last lines
}

// openReport makes the report's file before anything runs: an error must not show only at the end of a long job.
func (j *Job) openReport() (err error) {
	if j.plan.Exit.Report == "" {
		return nil
	}
	if j.reportFile, err = os.Create(j.plan.Exit.Report); err != nil {
		return fmt.Errorf("option -report: %w", err)
	}
	return nil
}

// writeReport writes the report, at the end of the job.
func (j *Job) writeReport() {
	if j.reportFile == nil {
		return
	}
	text, err := json.MarshalIndent(j.report(), "", "  ")
	if err == nil {
		_, err = j.reportFile.Write(append(text, '\n'))
	}
	if closed := j.reportFile.Close(); err == nil {
		err = closed
	}
	if err != nil {
		j.outcome.fail(fmt.Sprintf("write report: %v", err))
	}
}

func (j *Job) report() Report {
	r := Report{
		Schema:   1,
		Version:  version.Version,
		Begin:    j.began,
		Seconds:  time.Since(j.began).Seconds(),
		ExitCode: j.outcome.Code,
		Messages: append([]string{}, j.outcome.Lines...),
		Hosts:    []ReportHost{},
		Ranks:    []ReportRank{},
		Failures: []ReportFailure{},
	}
	for _, w := range j.worlds {
		for _, link := range w.links {
			host := link.host
			r.Hosts = append(r.Hosts, ReportHost{Host: host.Name, Proxy: host.ID, Group: w.index, Ranks: ranges.Format(host.LocalRanks())})
			for _, set := range link.placement.Sets {
				for _, rank := range set.Ranks {
					r.Ranks = append(r.Ranks, w.reportRank(rank, host.Name, host.Programs[set.Program].Args[0]))
				}
			}
		}
	}
	for i, info := range j.failures {
		failure := ReportFailure{Ranks: info.set.Label(), Group: info.group, Host: info.host, Reason: info.failure()}
		if i == 0 {
			failure.Stderr = j.lastLines
		}
		r.Failures = append(r.Failures, failure)
	}
	return r
}

func (w *world) reportRank(rank int, host, program string) ReportRank {
	r := ReportRank{Rank: rank, Group: w.index, Host: host, Program: program, State: stateUnknown}
	end, known := w.ends[rank]
	if !known {
		return r
	}
	status := end.status()
	r.PID, r.Seconds = end.PID, end.after.Seconds()
	switch {
	case end.Ended:
		r.State = stateEnded
	case status.Signaled():
		r.State, r.Signal = stateSignaled, unix.SignalName(status.Signal())
		r.Core, r.CoreFile, r.OutOfMemory = status.CoreDump(), end.Core, end.OutOfMemory
	default:
		code := status.ExitStatus()
		r.State, r.ExitCode = stateExited, &code
	}
	return r
}
