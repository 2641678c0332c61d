// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// A Member is a process that a launcher has started as one rank.
type Member struct {
	Rank, Size int
	local      int           // its index among the ranks of this host
	localRanks int           // the number of ranks of this host
	server     string        // the launcher's process that serves PMI or PMIx here
	session    int           // descriptor of the rank's PMI session, or noSession
	leader     *net.UnixConn // of a member that has donated
	parts      []*part       // of a leader's set that came to no good, until it is aborted
}

// noSession stands for the session of a rank that PMIx serves. Such a rank connects by itself when its MPI library starts.
const noSession = -1

// servedByPMIx reports whether the launcher serves PMIx and not PMI.
func (m *Member) servedByPMIx() bool { return m.session == noSession }

// Find reads in the environment which rank this process is. It returns nil if no launcher has started it.
func Find(getenv func(string) string) (*Member, error) {
	number := func(name string) int { n, _ := strconv.Atoi(getenv(name)); return n }
	tasks := cmp.Or(number("OMPI_COMM_WORLD_SIZE"), number("SLURM_STEP_NUM_TASKS")) // mpirun starts its daemons by a step of Slurm
	switch {
	case getenv("PMI_FD") != "":
		return inherited(getenv)
	case getenv("PMI_PORT") != "" && getenv("PMI_ID") != "":
		return connected(getenv)
	case tasks == 1 && number("SLURM_HET_SIZE") < 2:
		return nil, nil // a job of its own, whichever protocol the launcher speaks
	case getenv("PMIX_NAMESPACE") != "" && number("SLURM_HET_SIZE") > 1:
		return nil, errors.New("this is a part of a heterogeneous step, of which PMIx does not tell which ranks are on this host; use -rpp 1")
	case getenv("PMIX_NAMESPACE") != "":
		return named(getenv, tasks)
	case tasks > 1:
		return nil, fmt.Errorf("this is one of %d tasks, but the launcher offers no PMI; start with srun --mpi=pmi2 or --mpi=pmix", tasks)
	}
	return nil, nil
}

// named is a member that PMIx serves. PMIx names it by a namespace, which is the job, and a rank.
func named(getenv func(string) string, tasks int) (*Member, error) {
	rank := getenv("PMIX_RANK")
	n, err := strconv.Atoi(rank)
	switch {
	case strings.Contains(rank, ","):
		return nil, fmt.Errorf("PMIX_RANK=%s is a rank set already; leave tpsl run or the launcher's -rpp out", rank)
	case err != nil || n < 0:
		return nil, fmt.Errorf("PMIX_RANK=%q: want a number from 0, as launchers set it", rank)
	case tasks == 0:
		return nil, fmt.Errorf("rank %d: the launcher speaks PMIx, but does not say how many ranks the job has: "+
			"neither SLURM_STEP_NUM_TASKS nor OMPI_COMM_WORLD_SIZE is set; use -rpp 1", n)
	}
	// Each server makes a folder of its own. The namespace is the same on all hosts, which may be one machine.
	server := fmt.Sprintf("namespace %s at %s", getenv("PMIX_NAMESPACE"), getenv("PMIX_SERVER_TMPDIR"))
	m := &Member{Rank: n, Size: tasks, server: server, session: noSession}
	return m, m.locate(getenv)
}

// inherited is a member whose session is an inherited descriptor.
func inherited(getenv func(string) string) (*Member, error) {
	numbers := map[string]int{}
	for _, name := range []string{"PMI_FD", "PMI_RANK", "PMI_SIZE"} {
		n, err := strconv.Atoi(getenv(name))
		switch {
		case strings.Contains(getenv(name), ","):
			return nil, fmt.Errorf("%s=%s is a rank set already; leave tpsl run or the launcher's -rpp out", name, getenv(name))
		case err != nil || n < 0:
			return nil, fmt.Errorf("%s=%q: want a number from 0, as launchers set it", name, getenv(name))
		}
		numbers[name] = n
	}
	server, err := serverOf(numbers["PMI_FD"])
	if err != nil {
		return nil, err
	}
	m := &Member{Rank: numbers["PMI_RANK"], Size: numbers["PMI_SIZE"], server: server, session: numbers["PMI_FD"]}
	return m, m.locate(getenv)
}

// locate finds the member's index on this host. The variables of Hydra and Open MPI come first: their processes may be those of a
// Slurm step.
func (m *Member) locate(getenv func(string) string) (err error) {
	if all := getenv("MPI_LOCALNRANKS"); all != "" {
		m.local, m.localRanks, err = pair(getenv("MPI_LOCALRANKID"), all)
	} else if all := getenv("OMPI_COMM_WORLD_LOCAL_SIZE"); all != "" {
		m.local, m.localRanks, err = pair(getenv("OMPI_COMM_WORLD_LOCAL_RANK"), all)
	} else if ids := getenv("SLURM_GTIDS"); ids != "" {
		m.local, m.localRanks, err = pair(getenv("SLURM_LOCALID"), strconv.Itoa(1+strings.Count(ids, ",")))
	} else {
		err = errors.New("none of MPI_LOCALNRANKS, OMPI_COMM_WORLD_LOCAL_SIZE and SLURM_GTIDS is set")
	}
	if err != nil {
		return fmt.Errorf("rank %d: the launcher does not say which ranks are on this host: %w; use -rpp 1", m.Rank, err)
	}
	return nil
}

func pair(local, localRanks string) (i, n int, err error) {
	if i, err = strconv.Atoi(local); err == nil {
		n, err = strconv.Atoi(localRanks)
	}
	if err == nil && (i < 0 || i >= n) {
		err = fmt.Errorf("place %d of %d", i, n)
	}
	return i, n, err
}

// first and last are the indices of the first and the last member of the set of k members to which this member belongs.
func (m *Member) first(k int) int { return m.local / k * k }
func (m *Member) last(k int) int  { return min(m.first(k)+k, m.localRanks) - 1 }
