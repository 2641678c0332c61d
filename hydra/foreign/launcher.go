// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Member is a process that a launcher has started as one rank.
type Member struct {
	Rank, Size int
	local      int    // its index among the ranks of this host
	localRanks int    // the number of ranks of this host
	server     string // the launcher's process that serves PMI here
	session    int    // descriptor of the rank's PMI session
}

// Find reads in the environment which rank this process is. It returns nil if no launcher has started it.
func Find(getenv func(string) string) (*Member, error) {
	number := func(name string) int { n, _ := strconv.Atoi(getenv(name)); return n }
	tasks := max(number("SLURM_STEP_NUM_TASKS"), number("OMPI_COMM_WORLD_SIZE"))
	switch {
	case getenv("PMI_FD") != "":
		return inherited(getenv)
	case getenv("PMI_PORT") != "" && getenv("PMI_ID") != "":
		return connected(getenv)
	case tasks == 1:
		return nil, nil // a job of its own, whichever protocol the launcher speaks
	case getenv("PMIX_NAMESPACE") != "":
		return nil, errors.New("this launcher speaks only PMIx, which knows one rank per process; " +
			"start one task of tpsl run, or start with srun --mpi=pmi2, mpiexec.hydra or tpsl's mpiexec")
	case tasks > 1:
		return nil, fmt.Errorf("this is one of %d tasks, but the launcher offers no PMI; start with srun --mpi=pmi2", tasks)
	}
	return nil, nil
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

// locate finds the member's index on this host. Hydra's variables come first: its processes may be those of a Slurm step.
func (m *Member) locate(getenv func(string) string) (err error) {
	if all := getenv("MPI_LOCALNRANKS"); all != "" {
		m.local, m.localRanks, err = pair(getenv("MPI_LOCALRANKID"), all)
	} else if ids := getenv("SLURM_GTIDS"); ids != "" {
		m.local, m.localRanks, err = pair(getenv("SLURM_LOCALID"), strconv.Itoa(1+strings.Count(ids, ",")))
	} else {
		err = errors.New("set neither MPI_LOCALNRANKS nor SLURM_GTIDS")
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
