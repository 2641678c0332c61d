// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"
	"slices"
	"strings"
)

// A Manager is a resource manager. It tells in the environment which hosts a job has.
type Manager struct {
	Name      string
	Launcher  string   // how proxies start under it, unless the user chooses another launcher
	variables []string // if one of them is set, the job runs under this manager
	read      func(Getenv) ([]Host, error)
}

// Getenv returns the value of a variable, "" if it is not set.
type Getenv func(name string) string

// managers lists all resource managers, in the order in which Find tries them.
var managers = []Manager{
	{"slurm", "slurm", []string{slurmNodes, slurmOldNodes}, readSlurm},
	{"lsf", "lsf", []string{lsfHosts, lsfFile}, readLSF},
	{"sge", "sge", []string{sgeFile}, readSGE},
	{"pbs", "ssh", []string{pbsFile}, lineReader(pbsFile)},
	{"ll", "ll", []string{llFile}, lineReader(llFile)},
	{"cobalt", "ssh", []string{cobaltFile}, lineReader(cobaltFile)},
	{"flux", "ssh", []string{fluxURI}, readFlux},
}

// Find returns the resource manager of that name. It is an error if the job does not run under it. With an empty name Find
// returns the manager under which the job runs, or the zero Manager if there is none.
func Find(name string, getenv Getenv) (Manager, error) {
	for _, m := range managers {
		present := slices.ContainsFunc(m.variables, func(variable string) bool { return getenv(variable) != "" })
		switch {
		case name == m.Name && !present:
			return Manager{}, fmt.Errorf("%s is not set: this is no job of %s", strings.Join(m.variables, " or "), name)
		case present && (name == m.Name || name == ""):
			return m, nil
		}
	}
	if name != "" {
		return Manager{}, fmt.Errorf("there is no resource manager %q", name)
	}
	return Manager{}, nil
}

// Hosts returns the hosts of the job. The slots of a host are the ranks that the manager has granted there.
func (m Manager) Hosts(getenv Getenv) ([]Host, error) {
	list, err := m.read(getenv)
	if err != nil {
		return nil, fmt.Errorf("read the hosts of this %s job: %w; -hosts or -rmk user does without", m.Name, err)
	}
	return merge(list), nil
}
