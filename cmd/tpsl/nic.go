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
	"strings"
	"text/tabwriter"

	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/topology"
)

const nicUsage = "usage: tpsl nic [-json]\n\n" +
	"Lists network interfaces and ports of RDMA devices: what they are, where they sit, how fast they are.\n\n" +
	"  -json  as one JSON document\n"

// listNICs runs tpsl nic.
func listNICs(args []string) int {
	flags := flag.NewFlagSet("nic", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	asJSON := flags.Bool("json", false, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(nicUsage)
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("there is no argument %s", flags.Arg(0))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tpsl nic: %v; try tpsl nic -h\n", err)
		return exitUsage
	}
	sys := os.DirFS("/sys")
	nics, err := ib.List(sys, topology.Read(sys, nil))
	if err == nil && *asJSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(map[string]any{"nics": nics})
	} else if err == nil {
		err = printNICs(os.Stdout, nics)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tpsl nic: %v\n", err)
		return exitUsage
	}
	return 0
}

func printNICs(w io.Writer, nics []ib.NIC) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tKIND\tSTATE\tGb/s\tNODE\tCPUS\tPCI\tADDRESSES")
	for _, n := range nics {
		speed, node := "-", "-"
		if n.Speed > 0 {
			speed = fmt.Sprint(float64(n.Speed) / 1000)
		}
		if n.Node >= 0 {
			node = fmt.Sprint(n.Node)
		}
		kind := n.Kind
		if n.RDMA {
			kind += " RDMA"
		}
		row := []string{n.Name, kind, n.State, speed, node, n.CPUs, n.PCI, strings.Join(n.Addresses, " ")}
		for i, field := range row {
			if field == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}
