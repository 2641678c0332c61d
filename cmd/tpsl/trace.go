// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/trace"
)

// traceJob runs tpsl trace until it is interrupted.
func traceJob(args []string, to streams) int {
	ctx, stop := signal.NotifyContext(to.ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	out := trace.Output{Stdout: to.out, Stderr: to.err}
	if to.terminal {
		out.Terminal = terminalSize
	}
	return trace.Command(ctx, "/proc", args, out)
}

// terminalSize tells the size of the terminal that stdout is. A serial line does not know it.
func terminalSize() (rows, columns int) {
	size, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Row == 0 || size.Col == 0 {
		return 24, 80
	}
	return int(size.Row), int(size.Col)
}
