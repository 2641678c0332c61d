// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/top"
)

// watchRanks runs tpsl top until the user has seen enough, or the job ends.
func watchRanks(args []string, to streams) int {
	ctx, stop := signal.NotifyContext(to.ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	connectTo := func(ids []int) (top.Source, error) { return connect(ids) }
	return top.Command(ctx, args, connectTo, top.Output{Stdout: to.out, Stderr: to.err, Terminal: to.terminal})
}
