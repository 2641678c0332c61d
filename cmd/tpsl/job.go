// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

const jobUsage = "usage: tpsl run [-rpp K] PROGRAM [ARGUMENTS]\n\n" +
	"Runs a job of K ranks in one address space on this machine: mpiexec -n K -rpp K PROGRAM.\n\n" +
	"  -rpp K  ranks (default 2)\n"

// runJob becomes mpiexec for a job of one rank set. It returns only when that fails.
func runJob(args []string) int {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	ranks := flags.Uint("rpp", 2, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(jobUsage)
		return 0
	case err == nil && *ranks == 0:
		err = errors.New("-rpp 0: want a number from 1")
	case err == nil && flags.NArg() == 0:
		err = errors.New("no program given")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tpsl run: %v; try tpsl run -h\n", err)
		return exitUsage
	}
	self, err := os.Executable()
	if err == nil {
		k := strconv.FormatUint(uint64(*ranks), 10)
		mpiexec := filepath.Join(filepath.Dir(self), "mpiexec")
		err = unix.Exec(mpiexec, append([]string{mpiexec, "-n", k, "-rpp", k}, flags.Args()...), os.Environ())
		err = fmt.Errorf("start %s: %w; install tpsl anew", mpiexec, err)
	}
	fmt.Fprintf(os.Stderr, "tpsl run: %v\n", err)
	return exitUsage
}
