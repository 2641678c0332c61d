// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tpsl/tpsl/internal/flags"
	"github.com/tpsl/tpsl/internal/pids"
	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/pagetables"
)

const usage = `usage: tpsl mem [-by WHAT] [-flat PID,...] [-proof] [-json] PID...

Says what the ranks of processes cost in memory, in kB of 1,024 bytes. The PID
of mpiexec stands for all processes of its job on this host.

  -by rank|object|segment|page  a line for each (default rank)
  -flat PID,...                 the same program as one process per rank, or its
                                mpiexec: to compare with it
  -proof                        compare page frames: text is the same in all
                                instances, data is not
  -json                         as one JSON document, in bytes
`

// Exit statuses beside 0.
const (
	exitPartial = 1 // something could not be read, or the proof fails
	exitUsage   = 255
)

type request struct {
	by          string
	pids, flat  []int
	proof, json bool
}

// Report is what -json prints.
type Report struct {
	Processes []*pagetables.Process `json:"processes"`
	Flat      []*pagetables.Process `json:"flat,omitempty"`
	PerRank   *Costs                `json:"per_rank,omitempty"`
	Proofs    []*pagetables.Proof   `json:"proofs,omitempty"`
	Errors    []string              `json:"errors,omitempty"`
}

// Command runs tpsl mem on the proc filesystem and returns its exit status.
func Command(proc pagetables.Proc, args []string, stdout, stderr io.Writer) int {
	r, err := parse(args)
	switch {
	case errors.Is(err, flags.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "tpsl mem: %v; try tpsl mem -h\n", err)
		return exitUsage
	}
	report, errs := look(proc, r)
	if r.json {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		err = printReport(stdout, proc, r, report)
	}
	if err != nil {
		errs = append(errs, err)
	}
	for _, err := range errs {
		fmt.Fprintf(stderr, "tpsl mem: %s\n", terminal.Printable(err.Error()))
	}
	if len(errs) > 0 || report.falls() {
		return exitPartial
	}
	return 0
}

// parse takes options behind PIDs, too.
func parse(args []string) (r request, err error) {
	set := flags.New("mem")
	set.StringVar(&r.by, "by", "rank", "")
	flat := set.String("flat", "", "")
	set.BoolVar(&r.proof, "proof", false, "")
	set.BoolVar(&r.json, "json", false, "")
	if r.pids, err = pids.Parse(set, args); err != nil {
		return r, err
	}
	if *flat != "" {
		if r.flat, err = pids.List(*flat); err != nil {
			return r, fmt.Errorf("-flat: %w", err)
		}
	}
	switch r.by {
	case "rank", "object", "segment":
	case "page":
		if r.json {
			return r, errors.New("-by page has no -json: a line is one already")
		}
	default:
		return r, fmt.Errorf("-by %s: want rank, object, segment or page", r.by)
	}
	return r, nil
}

// look reads what is asked for.
func look(proc pagetables.Proc, r request) (*Report, []error) {
	report := &Report{}
	var errs, more []error
	report.Processes, errs = proc.Job(r.pids)
	if len(r.flat) > 0 {
		report.Flat, more = proc.Job(r.flat)
		errs = append(errs, more...)
	}
	if r.proof {
		for _, process := range report.Processes {
			proof, err := proc.Prove(process)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			report.Proofs = append(report.Proofs, proof)
		}
	}
	for _, process := range append(report.Processes, report.Flat...) {
		for _, lack := range process.Partial {
			errs = append(errs, fmt.Errorf("process %d (%s): in part: %s", process.PID, process.Command, lack))
		}
	}
	for _, err := range errs {
		report.Errors = append(report.Errors, err.Error())
	}
	report.PerRank = perRank(report)
	return report, errs
}

// falls tells whether a proof fails.
func (r *Report) falls() bool {
	for _, proof := range r.Proofs {
		if !proof.Holds() {
			return true
		}
	}
	return false
}
