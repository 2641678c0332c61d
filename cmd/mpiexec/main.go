// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command mpiexec launches MPI jobs. It is also the proxy that it starts on each host.
package main

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/hydra/proxy"
	"github.com/tpsl/tpsl/internal/terminal"
)

func main() { os.Exit(run()) }

func run() int {
	if proxy.Wanted(os.Args[1:]) {
		return proxy.Main()
	}
	opts, err := hydra.ParseOptions(os.Args[1:], os.Getenv)
	if err != nil {
		return fail(err)
	}
	switch opts.Action {
	case hydra.ActionHelp:
		fmt.Print(hydra.Usage(opts))
		return 0
	case hydra.ActionVersion:
		fmt.Print(hydra.BuildDetails())
		return 0
	}
	setting, err := currentSetting()
	if err != nil {
		return fail(err)
	}
	if err := setting.FindHosts(opts.Hosts); err != nil {
		return fail(err)
	}
	opts.Launch.Launcher = cmp.Or(opts.Launch.Launcher, setting.Manager.Launcher)
	plan, err := hydra.NewPlan(opts, setting)
	if err != nil {
		return fail(err)
	}
	if opts.Hosts.PrintRankMap {
		fmt.Fprint(os.Stderr, plan.RankMap())
	}
	opts.Launch.LocalName = opts.Hosts.LocalName
	outcome := hydra.NewJob(plan, opts.Launch, opts.Timeout, logger(opts.Verbose)).Run()
	if len(outcome.Lines) > 0 {
		fmt.Fprintln(os.Stderr, strings.Join(outcome.Lines, "\n"))
	}
	return outcome.Code
}

func logger(verbose bool) *slog.Logger {
	if !verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "mpiexec:", err)
	return hydra.ExitLauncher
}

// currentSetting reads what a plan depends on.
func currentSetting() (hydra.Setting, error) {
	host, err := os.Hostname()
	if err != nil {
		return hydra.Setting{}, fmt.Errorf("read host name: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return hydra.Setting{}, fmt.Errorf("read current directory: %w", err)
	}
	var random [6]byte
	_, _ = rand.Read(random[:])           // never fails
	colour := os.Getenv("NO_COLOR") == "" // https://no-color.org
	return hydra.Setting{
		Host:    host,
		Dir:     dir,
		Environ: os.Environ(),
		KVSName: fmt.Sprintf("kvs_%d_%s", os.Getpid(), hex.EncodeToString(random[:])),
		Prompt:  terminal.Is(1),

		ColourOut: terminal.Is(1) && colour,
		ColourErr: terminal.Is(2) && colour,
	}, nil
}
