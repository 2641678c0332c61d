// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/trace"
)

// traceJob runs tpsl trace until it is interrupted.
func traceJob(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	_, err := unix.IoctlGetTermios(int(os.Stdout.Fd()), unix.TCGETS)
	return trace.Command(ctx, "/proc", args, trace.Output{Stdout: os.Stdout, Stderr: os.Stderr, Live: err == nil})
}
