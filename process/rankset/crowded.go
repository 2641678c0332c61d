// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// Yield is the library that makes ranks which wait give way to others.
const Yield = "libtpslyield.so"

// Yields returns what stands in front of each instance's libraries so that ranks which
// wait give way to others (tpsl/yield): a file in folder. It is there when the ranks are
// more than the CPUs they may use, unless TPSL_YIELD has it otherwise.
func (s *Set) Yields(folder string, getenv func(string) string) ([]string, error) {
	shim := []string{filepath.Join(folder, Yield)}
	switch word := getenv("TPSL_YIELD"); word {
	case "", "auto":
		if _, err := os.Stat(shim[0]); err != nil || !s.Crowded {
			return nil, nil
		}
		return shim, nil
	case "always":
		return shim, nil
	case "never":
		return nil, nil
	default:
		return nil, fmt.Errorf("environment: TPSL_YIELD=%q: want auto, always or never", word)
	}
}

// Look finds out whether the ranks are Crowded, and what their host lacks.
func (s *Set) Look() {
	s.Crowded = s.crowded(runtime.NumCPU(), usable(os.Getppid()))
	s.NoRDMA, s.NoRegistration, s.NoXPMEM = !hasRDMA("/sys"), !registers("/dev"), !hasXPMEM("/dev")
}

// crowded tells whether ranks must share CPUs: those of this process its own, allowed, or
// those of the host the CPUs of the job.
func (s *Set) crowded(allowed, job int) bool {
	return len(s.Ranks) > allowed || s.LocalRanks > job
}

// usable counts the CPUs that a process may use. Those of this one's parent, the launcher's
// proxy, are the job's on this host: this one itself may be bound to a part of them.
func usable(pid int) int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		return runtime.NumCPU()
	}
	return set.Count()
}
