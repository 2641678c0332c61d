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

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/hydra/options"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy"
	"github.com/tpsl/tpsl/internal/terminal"
)

func main() { os.Exit(run()) }

func run() int {
	if err := checkData(); err != nil {
		return fail(err)
	}
	if proxy.Wanted(os.Args[1:]) {
		return proxy.Main()
	}
	asked, err := options.Parse(os.Args[1:], os.Getenv)
	if err != nil {
		return fail(err)
	}
	switch asked.Action {
	case options.ActionHelp:
		fmt.Print(options.Usage(asked))
		return 0
	case options.ActionVersion:
		fmt.Print(options.BuildDetails())
		return 0
	}
	site, err := currentSite()
	if err != nil {
		return fail(err)
	}
	if err := site.FindHosts(asked.Hosts); err != nil {
		return fail(err)
	}
	asked.Launch.Launcher = cmp.Or(asked.Launch.Launcher, site.Manager.Launcher)
	made, err := plan.New(asked.Request, site)
	if err != nil {
		return fail(err)
	}
	if asked.Hosts.PrintRankMap {
		fmt.Fprint(os.Stderr, made.RankMap())
	}
	asked.Launch.LocalName = asked.Hosts.LocalName
	return hydra.NewJob(made, asked.Launch, asked.Timeout, logger(asked.Verbose)).Run().Code
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

// leastData is how many MiB of data mpiexec and its proxies need: 72 for the Go runtime, and the plan of a job.
const leastData = 128

// checkData refuses a limit of data with which the Go runtime starts, and would end later with a text of its own.
func checkData() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &limit); err != nil {
		return fmt.Errorf("read RLIMIT_DATA: %w", err)
	}
	if limit.Cur>>20 < leastData {
		return fmt.Errorf("the data limit of %d MiB (ulimit -d) is too small: %d MiB are needed; raise it", limit.Cur>>20, leastData)
	}
	return nil
}

// currentSite reads what a plan depends on.
func currentSite() (plan.Site, error) {
	host, err := os.Hostname()
	if err != nil {
		return plan.Site{}, fmt.Errorf("read host name: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return plan.Site{}, fmt.Errorf("read current directory: %w", err)
	}
	var random [6]byte
	_, _ = rand.Read(random[:])           // never fails
	colour := os.Getenv("NO_COLOR") == "" // https://no-color.org
	return plan.Site{
		Host:    host,
		Dir:     dir,
		Environ: os.Environ(),
		KVSName: fmt.Sprintf("kvs_%d_%s", os.Getpid(), hex.EncodeToString(random[:])),
		Prompt:  terminal.Is(1),

		ColourOut: terminal.Is(1) && colour,
		ColourErr: terminal.Is(2) && colour,
	}, nil
}
