// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"math"
	"os"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/loader/search"
)

// Look gathers the facts. version is that of the program; files are MPI libraries to
// judge beside those that libtpsl would look for.
func Look(version string, files []string) Facts {
	policies, wrong := plan.ReadPolicies(os.Getenv("TPSL_POLICY"), os.Getenv("TPSL_PRIVATE"))
	if wrong != nil {
		policies = plan.DefaultPolicies()
	}
	found := &finder{search: search.New(os.Getenv("LD_LIBRARY_PATH")), policy: policies.Opened}
	asked, system := os.Getenv("TPSL_MPI_LIBRARY"), lookAtSystem(found)
	return Facts{
		Version:      version,
		System:       system,
		Limits:       lookAtLimits(),
		RDMA:         lookAtRDMA(system.cpus()),
		Libraries:    found.libraries(asked, files),
		Chosen:       found.chosen(asked),
		Private:      private(policies.Program, wrong),
		Installation: lookAtInstallation(found),
		Environment:  relevant(os.Environ()),
	}
}

// lookAtRDMA lists the ports of RDMA devices, and judges them as mpiexec does for a process with a rank on each CPU. An error of the
// kernel's is one more host without.
func lookAtRDMA(cpus uint64) []Port {
	ports := []Port{}
	nics, _ := ib.Ports(os.DirFS("/sys"), new(topology.Machine))
	host := ib.Host{Open: ib.OpenVerbs, Locked: math.MaxUint64, InProcess: int(cpus)}
	if limit, err := ib.LockLimit(); err == nil {
		host.Locked = limit
	}
	for _, n := range nics {
		what, remedy := host.Unusable(n, ib.Want{})
		ports = append(ports, Port{n.Name, what, remedy})
	}
	return ports
}

// private lists the private ones of the program's libraries. wrong is what libtpsl would
// say of the user's policy.
func private(policy plan.Policy, wrong error) Private {
	p := Private{Patterns: []string{}}
	if wrong != nil {
		p.Error = wrong.Error()
	}
	for _, rule := range policy {
		if rule.Placement == plan.Private {
			p.Patterns = append(p.Patterns, rule.Pattern)
		}
	}
	return p
}

// prefixes are those of the variables that MPI, OpenMP and tpsl read.
var prefixes = []string{"TPSL_", "PMI_", "MPIR_CVAR_", "UCX_", "OMP_", "GLIBC_TUNABLES=", "LD_LIBRARY_PATH=", "LD_PRELOAD="}

// relevant returns the variables of an environment that belong into a report. Others
// may hold secrets.
func relevant(environ []string) []string {
	some := []string{}
	for _, entry := range environ {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(entry, p) }) {
			some = append(some, entry)
		}
	}
	slices.Sort(some)
	return some
}

// read returns a small file of /proc or /sys without the space around it, "" when
// there is none.
func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// field returns what follows the first line that starts with key, in a text of lines
// "key: value" or "key=value".
func field(text, key string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			return strings.Trim(rest, ":= \t\n\"")
		}
	}
	return ""
}
