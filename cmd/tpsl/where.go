// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/tpsl/tpsl/hydra/whereabouts"
	"github.com/tpsl/tpsl/internal/flags"
	"github.com/tpsl/tpsl/internal/pids"
	"github.com/tpsl/tpsl/internal/ranges"
)

const whereUsage = `usage: tpsl where [-stacks] [PID]

Says where the ranks of a running job are: for each rank the MPI call that it
is in, with peer, tag and communicator, and for how long at least. Ranks in the
same state share a line. Then it says why they wait, as far as calls show it:

  deadlock           ranks wait for each other, or for ranks that have ended
  possible deadlock  all ranks wait, but the calls do not prove for whom
  not there          members that have not come to a collective operation

  -stacks  tell the stacks of the threads that call MPI, too, as gdb on the host
           of the ranks reads them: a process stands still meanwhile, for about
           a second

The job is that of the process: mpiexec, or one that it has started on this
host. Without a PID it is the only job on this host. Calls are told of jobs
under mpiexec -state (or TPSL_STATE=1), stacks of any job. Ranks of all hosts
are told. Messages that are on their way are not seen.
`

// whereAreRanks runs tpsl where.
func whereAreRanks(args []string, to streams) int {
	text, err := askWhere(args)
	switch {
	case errors.Is(err, flags.ErrHelp):
		fmt.Fprint(to.out, whereUsage)
		return 0
	case err != nil:
		fmt.Fprintf(to.err, "tpsl where: %v\n", err)
		return exitUsage
	}
	fmt.Fprint(to.out, text)
	return 0
}

func askWhere(args []string) (string, error) {
	set := flags.New("where")
	stacks := set.Bool("stacks", false, "")
	ids, err := pids.Parse(set, args)
	if err != nil && !errors.Is(err, pids.ErrNone) {
		return "", err
	}
	job, err := connect(ids)
	if err != nil {
		return "", err
	}
	defer job.Close()
	if *stacks {
		return job.Stacks()
	}
	return job.Where()
}

// connect connects to the mpiexec of the job of a process or, if none is given, to the only one on this host.
func connect(ids []int) (*whereabouts.Connection, error) {
	if len(ids) > 1 {
		return nil, fmt.Errorf("%d PIDs given; want one", len(ids))
	}
	if len(ids) == 0 {
		jobs, err := whereabouts.Jobs()
		switch {
		case err != nil:
			return nil, err
		case len(jobs) == 0:
			return nil, errors.New("no job of mpiexec runs on this host")
		case len(jobs) > 1:
			return nil, fmt.Errorf("several jobs run on this host; name one of PIDs %s", ranges.List(jobs))
		}
		ids = jobs
	}
	return whereabouts.Connect(ids[0])
}
