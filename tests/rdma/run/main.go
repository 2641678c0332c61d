// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command run runs a program in an emulated machine with RDMA devices: see package guest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/tests/rdma/guest"
)

const usage = `usage: go run ./tests/rdma/run [-guests N] [-nodes N] [-rails N] [-limit DURATION] -- PROGRAM [ARGUMENT]...

Boots emulated machines on this machine's files, runs a program in machine a, prints what
it printed and ends with its exit code.

  -guests N        machines, 1 or 2; the second is host b (default 1)
  -nodes N         NUMA nodes of each, 1 or 2 (default 1)
  -rails N         RDMA devices of each, 1 or 2 (default 1)
  -limit DURATION  time for the program (default 10m)
`

// exitFailed is the code when the program did not run to its end.
const exitFailed = 125

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	var o guest.Options
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage) }
	flags.IntVar(&o.Guests, "guests", 1, "")
	flags.IntVar(&o.Nodes, "nodes", 1, "")
	flags.IntVar(&o.Rails, "rails", 1, "")
	limit := flags.Duration("limit", 10*time.Minute, "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return exitFailed
	}
	if flags.NArg() == 0 {
		fmt.Fprint(os.Stderr, usage)
		return exitFailed
	}
	ctx, cancel := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer cancel()
	code, err := inGuest(ctx, o, *limit, flags.Args())
	if err != nil {
		fmt.Fprintf(os.Stderr, "run: %v\n", err)
		return exitFailed
	}
	return code
}

// inGuest boots, runs the program, prints and stops.
func inGuest(ctx context.Context, o guest.Options, limit time.Duration, argv []string) (code int, err error) {
	group, err := guest.Start(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, group.Stop()) }()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no end within %v", limit))
	defer cancel()
	result, err := group.Run(ctx, 0, nil, argv...)
	fmt.Print(result.Stdout)
	fmt.Fprint(os.Stderr, result.Stderr)
	return result.Code, err
}
