// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/foreign"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/flags"
)

const jobUsage = `usage: tpsl run [-rpp K] [OPTIONS] PROGRAM [ARGUMENTS]

Runs K ranks in one address space. Without a launcher they are a job of their
own: mpiexec -n K -rpp K PROGRAM. As what another launcher starts for each rank,
K ranks of a host share a process:

  mpiexec.hydra -n 16 tpsl run -rpp 4 PROGRAM
  srun --mpi=pmi2 -n 16 tpsl run -rpp 4 PROGRAM
  srun --mpi=pmix -n 16 tpsl run -rpp 4 PROGRAM    (an Open MPI program)

  -rpp K         ranks (default 2)
  -tpsl MODE     how they share it: shared, private or auto (default)
  -wait SECONDS  how long the ranks of a process wait for one another to start
                 (default 60)

Without another launcher also:
  -profile[=FILE]  write what ranks did in MPI to FILE.json and FILE.html
  -state           ranks note their MPI calls, for tpsl where and tpsl top
`

// A jobRequest is what to run, and how mpiexec is to watch it.
type jobRequest struct {
	foreign.Request
	watching []string // options of mpiexec
}

// runJob runs this process's part of a job, or becomes mpiexec for a job of one rank set.
func runJob(args []string, to streams) int {
	r, err := parseRun(args)
	switch {
	case errors.Is(err, flags.ErrHelp):
		fmt.Fprint(to.out, jobUsage)
		return 0
	case err != nil:
		fmt.Fprintf(to.err, "tpsl run: %v; try tpsl run -h\n", err)
		return exitUsage
	}
	if err := start(r, to.err); err != nil {
		fmt.Fprintf(to.err, "tpsl run: %v\n", err)
	}
	return exitUsage
}

func parseRun(args []string) (r jobRequest, err error) {
	set := flags.New("run")
	ranks := set.Uint("rpp", 2, "")
	mode := set.String("tpsl", string(plan.ModeAuto), "")
	wait := set.Uint("wait", 60, "")
	for _, name := range []string{"profile", "state"} {
		set.BoolFunc(name, "", func(value string) error {
			option := "-" + name
			if value != "true" { // what package flag gives an option without a value
				option += "=" + value
			}
			r.watching = append(r.watching, option)
			return nil
		})
	}
	if err := flags.Parse(set, args); err != nil {
		return r, err
	}
	r.Request = foreign.Request{
		PerProcess: int(*ranks),
		Mode:       plan.Mode(*mode),
		Args:       set.Args(),
		Environ:    os.Environ(),
		Wait:       time.Duration(*wait) * time.Second,
	}
	switch {
	case *ranks == 0:
		return r, errors.New("-rpp 0: want a number from 1")
	case r.Mode != plan.ModeAuto && r.Mode != plan.ModeShared && r.Mode != plan.ModePrivate:
		return r, fmt.Errorf("-tpsl %s: want shared, private or auto", r.Mode)
	case set.NArg() == 0:
		return r, errors.New("no program given")
	}
	r.Dir, err = os.Getwd()
	return r, err
}

// start returns only when the program cannot run. A nil error means that the user has been told.
func start(r jobRequest, stderr io.Writer) error {
	if r.PerProcess == 1 && r.Mode == plan.ModeAuto && r.watching == nil {
		return itself(r.Request)
	}
	member, err := foreign.Find(os.Getenv)
	if err != nil {
		return err
	}
	if member == nil {
		return alone(r)
	}
	if r.watching != nil {
		return fmt.Errorf("option %s: a launcher has started these ranks already; start them by tpsl's mpiexec, also in an allocation: "+
			"mpiexec -n RANKS -rpp %d %s PROGRAM", r.watching[0], r.PerProcess, strings.Join(r.watching, " "))
	}
	status, err := member.Run(r.Request)
	if err != nil && !errors.Is(err, foreign.ErrSaid) {
		fmt.Fprintf(stderr, "tpsl run: %v\n", err)
		code := exitUsage
		if status.Signaled() {
			code = 128 + int(status.Signal()) // as a shell and srun have it
		}
		member.Abort(code)
	}
	if err == nil || status.Signaled() {
		foreign.EndAs(status)
	}
	return nil
}

// itself becomes the program: a process is a rank to every launcher.
func itself(r foreign.Request) error {
	path, err := exec.LookPath(r.Args[0])
	if err == nil {
		err = unix.Exec(path, r.Args, r.Environ)
	}
	return fmt.Errorf("cannot run %s: %w", r.Args[0], err)
}

// alone becomes mpiexec.
func alone(r jobRequest) error {
	args, err := mpiexecHere(r.PerProcess)
	if err != nil {
		return err
	}
	args = append(args, "-tpsl", string(r.Mode))
	err = unix.Exec(args[0], slices.Concat(args, r.watching, r.Args), r.Environ)
	return fmt.Errorf("start %s: %w; install tpsl anew", args[0], err)
}

// mpiexecHere returns how a command begins that runs ranks in one address space of this host: an allocation's others are not asked for.
func mpiexecHere(ranks int) ([]string, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read host name: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	k := strconv.Itoa(ranks)
	return []string{filepath.Join(filepath.Dir(self), "mpiexec"), "-hosts", host + ":" + k, "-launcher", "fork", "-n", k, "-rpp", k}, nil
}
