// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command tpsl has what helps with thread ranks beside starting them:
//
//	tpsl check FILE
//	tpsl doctor
//	tpsl mem PID...
//	tpsl nic
//	tpsl run [-rpp K] PROGRAM
//	tpsl trace PID...
package main

import (
	"fmt"
	"os"

	"github.com/tpsl/tpsl/internal/check"
	"github.com/tpsl/tpsl/internal/doctor"
	"github.com/tpsl/tpsl/internal/mem"
	"github.com/tpsl/tpsl/internal/version"
)

// exitUsage is the exit status of wrong usage, as mpiexec's.
const exitUsage = 255

// commands are the words that may come first.
var commands = []struct {
	name, what string
	run        func(args []string) int
}{
	{"check", "say what the loader would do with a library or program", func(args []string) int {
		return check.Command(args, os.Stdout, os.Stderr)
	}},
	{"doctor", "say what would fail on this machine, and what to do", func(args []string) int {
		return doctor.Command(version.Version, args, os.Stdout, os.Stderr)
	}},
	{"mem", "say what ranks cost in memory", func(args []string) int {
		return mem.Command("/proc", args, os.Stdout, os.Stderr)
	}},
	{"nic", "list network interfaces and RDMA devices", listNICs},
	{"run", "run a program as ranks of one address space", runJob},
	{"trace", "show what the kernel does to ranks, live", traceJob},
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "tpsl: no command given; try tpsl -h")
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage()
		return 0
	case "-version", "--version":
		fmt.Println("tpsl", version.Version)
		return 0
	}
	for _, c := range commands {
		if c.name == args[0] {
			return c.run(args[1:])
		}
	}
	fmt.Fprintf(os.Stderr, "tpsl: there is no command %s; try tpsl -h\n", args[0])
	return exitUsage
}

func usage() {
	fmt.Print("usage: tpsl COMMAND [ARGUMENTS]\n\n")
	for _, c := range commands {
		fmt.Printf("  %-10s %s\n", c.name, c.what)
	}
	fmt.Print("\ntpsl COMMAND -h says more about a command; tpsl --version tells the version.\n")
}
