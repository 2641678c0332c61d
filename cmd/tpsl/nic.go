// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/hardware"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/flags"
	"github.com/tpsl/tpsl/internal/pids"
	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/internal/topology"
)

const nicUsage = `usage: tpsl nic [-n RANKS [-rpp K] [-bind-to OBJECT]] [-json]
       tpsl nic [-json] PID...

Lists network interfaces and ports of RDMA devices: what they are, where they
sit, how fast they are. Of a port's GIDs it shows the one that UCX takes. With
RANKS it also says which of them each rank of this host would get from
mpiexec -nics near.

With PIDs it says what the ranks of these processes have made of RDMA devices:
queue pairs, completion queues, memory regions. The PID of mpiexec stands for
all processes of its job on this host.

  -n RANKS         how many ranks this host would have
  -rpp K           of which K are in one process (default 1)
  -bind-to OBJECT  as for mpiexec
  -json            as one JSON document
`

type nicRequest struct {
	ranks, perProcess int
	bind              plan.Binding
	pids              []int
	json              bool
}

// nicReport is what -json prints.
type nicReport struct {
	NICs  []ib.NIC   `json:"nics,omitempty"`
	Rails []rail     `json:"rails,omitempty"`
	Ranks []rankUse  `json:"ranks,omitempty"`
	Sum   *nodeCount `json:"node,omitempty"`
}

// A rail says which NIC a rank would get, and where it would run.
type rail struct {
	Rank int    `json:"rank"` // among those of the host
	CPUs string `json:"cpus"`
	NIC  string `json:"nic"` // "" where the MPI library chooses
}

// listNICs runs tpsl nic.
func listNICs(args []string, to streams) int {
	r, err := parseNIC(args)
	switch {
	case errors.Is(err, flags.ErrHelp):
		fmt.Fprint(to.out, nicUsage)
		return 0
	case err != nil:
		fmt.Fprintf(to.err, "tpsl nic: %v; try tpsl nic -h\n", err)
		return exitUsage
	}
	var report nicReport
	var errs []error
	if len(r.pids) > 0 {
		errs = report.lookAt(r.pids)
	} else if err := report.list(r); err != nil {
		errs = []error{err}
	}
	for _, err := range errs {
		fmt.Fprintf(to.err, "tpsl nic: %s\n", terminal.Printable(err.Error()))
	}
	if err := report.print(to.out, r.json); err != nil || len(errs) > 0 {
		return exitUsage
	}
	return 0
}

func parseNIC(args []string) (r nicRequest, err error) {
	set := flags.New("nic")
	set.IntVar(&r.ranks, "n", 0, "")
	set.IntVar(&r.perProcess, "rpp", 1, "")
	bind := set.String("bind-to", "", "")
	set.BoolVar(&r.json, "json", false, "")
	if r.pids, err = pids.Parse(set, args); errors.Is(err, pids.ErrNone) {
		err = nil
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	planned := given["n"] || given["rpp"] || given["bind-to"]
	switch {
	case err != nil:
		return r, err
	case planned && len(r.pids) > 0:
		return r, errors.New("-n, -rpp and -bind-to are about ranks to come: give no PID")
	case planned && !given["n"]:
		return r, errors.New("-rpp and -bind-to are about ranks to come: say with -n how many")
	case planned && (r.ranks < 1 || r.perProcess < 1):
		return r, errors.New("-n and -rpp: want numbers from 1")
	}
	if *bind != "" {
		if r.bind, err = plan.ParseBinding(*bind); err != nil {
			return r, fmt.Errorf("-bind-to: %w", err)
		}
	}
	return r, nil
}

// list looks at this host.
func (report *nicReport) list(r nicRequest) (err error) {
	sys := os.DirFS("/sys")
	if report.NICs, err = ib.List(sys, topology.Read(sys, nil)); err != nil || r.ranks == 0 {
		return err
	}
	allowed, err := hardware.AllowedCPUs()
	if err != nil {
		return err
	}
	cpus, nics, err := hardware.Rails(topology.Read(sys, allowed), report.NICs, r.ranks, r.perProcess, r.bind)
	if err != nil {
		return fmt.Errorf("bind %d ranks: %w", r.ranks, err)
	}
	for rank, set := range cpus {
		next := rail{Rank: rank, CPUs: set.String()}
		if nics != nil {
			next.NIC = nics[rank]
		}
		report.Rails = append(report.Rails, next)
	}
	return nil
}

func (report *nicReport) print(w io.Writer, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	report.printNICs(table)
	report.printRails(table)
	report.printRanks(table)
	return table.Flush()
}

func (report *nicReport) printNICs(w io.Writer) {
	if report.NICs == nil {
		return
	}
	row(w, "NAME", "KIND", "STATE", "Gb/s", "NODE", "CPUS", "PCI", "ADDRESSES")
	for _, n := range report.NICs {
		speed, node, kind := "", "", n.Kind
		if n.Speed > 0 {
			speed = fmt.Sprint(float64(n.Speed) / 1000)
		}
		if n.Node >= 0 {
			node = fmt.Sprint(n.Node)
		}
		if n.RDMA {
			kind += " RDMA"
		}
		addresses := strings.Join(n.Addresses, " ")
		if gid, ok := n.GID(); ok {
			addresses = strings.TrimSpace(fmt.Sprintf("GID %d of %d: %v %s %s", gid.Index, len(n.GIDs), gid.Address, gid.Type, gid.Interface))
		}
		row(w, n.Name, kind, n.State, speed, node, n.CPUs, n.PCI, addresses)
	}
	if !slices.ContainsFunc(report.NICs, func(n ib.NIC) bool { return n.RDMA }) {
		fmt.Fprintln(w, "\nThis host shows no RDMA device.")
	}
}

func (report *nicReport) printRails(w io.Writer) {
	if report.Rails == nil {
		return
	}
	fmt.Fprintln(w)
	row(w, "RANK", "CPUS", "NIC")
	for _, r := range report.Rails {
		row(w, fmt.Sprint(r.Rank), r.CPUs, r.NIC)
	}
}

// row prints fields of a table, and a dash for what is not known.
func row(w io.Writer, fields ...string) {
	for i, field := range fields {
		if field == "" {
			fields[i] = "-"
		}
	}
	fmt.Fprintln(w, strings.Join(fields, "\t"))
}
