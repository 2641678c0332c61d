// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command tpsl has what helps with thread ranks beside starting them:
//
//	tpsl check FILE
//	tpsl doctor
//	tpsl mem PID...
//	tpsl names [LIBRARY]
//	tpsl nic
//	tpsl python [-n N]
//	tpsl report A.json [B.json]
//	tpsl run [-rpp K] PROGRAM
//	tpsl top [PID]
//	tpsl trace PID...
//	tpsl where [PID]
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tpsl/tpsl/internal/check"
	"github.com/tpsl/tpsl/internal/doctor"
	"github.com/tpsl/tpsl/internal/importlib"
	"github.com/tpsl/tpsl/internal/mem"
	"github.com/tpsl/tpsl/internal/suggest"
	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/internal/version"
)

// exitUsage is the exit status of wrong usage, and of output that cannot be written, as mpiexec's.
const exitUsage = 255

// streams are where a command writes.
type streams struct {
	out, err io.Writer
	terminal bool            // out is one
	ctx      context.Context // ends when out cannot be written
}

// commands are the words that may come first.
var commands = []struct {
	name, what string
	run        func(args []string, to streams) int
}{
	{"check", "say how a file would be loaded, and what threads would share", func(args []string, to streams) int {
		return check.Command(args, to.out, to.err)
	}},
	{"doctor", "say what would fail on this machine, and what to do", func(args []string, to streams) int {
		colour := to.terminal && terminal.ColourWanted()
		return doctor.Command(version.Version, args, doctor.Output{Stdout: to.out, Stderr: to.err, Colour: colour})
	}},
	{"mem", "say what ranks cost in memory", func(args []string, to streams) int {
		return mem.Command("/proc", args, to.out, to.err)
	}},
	{"names", "make programs link with what an MPI library has", func(args []string, to streams) int {
		return importlib.Command(args, to.out, to.err)
	}},
	{"nic", "list network interfaces and RDMA devices", listNICs},
	{"python", "a prompt of Python on several ranks", runPrompt},
	{"report", "say what ranks did in MPI, from a profile", reportProfile},
	{"run", "run a program as ranks of one address space", runJob},
	{"top", "show what the ranks of a job do and use, live", watchRanks},
	{"trace", "show what the kernel does to ranks, live", traceJob},
	{"where", "say which MPI call each rank is in, and why it waits", whereAreRanks},
}

func main() {
	os.Exit(run(os.Args[1:], streams{out: os.Stdout, err: os.Stderr, terminal: terminal.Is(1)}))
}

// run runs a command. It tells for all of them that the output cannot be written.
func run(args []string, to streams) int {
	out := &output{to: to.out}
	to.out = out
	to.ctx, out.failed = context.WithCancel(context.Background())
	defer out.failed()
	code := runCommand(args, to)
	if why := out.why(); why != nil {
		fmt.Fprintf(to.err, "tpsl %s: write standard output: %v\n", args[0], why)
		return exitUsage
	}
	return code
}

func runCommand(args []string, to streams) int {
	if len(args) == 0 {
		fmt.Fprintln(to.err, "tpsl: no command given; try tpsl -h")
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(to.out)
		return 0
	case "-version", "--version":
		fmt.Fprintln(to.out, "tpsl", version.Version)
		return 0
	}
	var names []string
	for _, c := range commands {
		if c.name == args[0] {
			return c.run(args[1:], to)
		}
		names = append(names, c.name)
	}
	remedy := "try tpsl -h"
	if near := suggest.Nearest(args[0], names); near != "" {
		remedy = "did you mean " + near + "?"
	}
	fmt.Fprintf(to.err, "tpsl: unknown command %s; %s\n", args[0], remedy)
	return exitUsage
}

func usage(w io.Writer) {
	fmt.Fprint(w, "usage: tpsl COMMAND [ARGUMENTS]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.what)
	}
	fmt.Fprint(w, "\ntpsl COMMAND -h says more about a command; tpsl --version tells the version.\n")
}
