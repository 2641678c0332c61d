// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tpsl/tpsl/internal/ranges"
)

// Yields returns what stands in front of each instance's libraries so that ranks which
// wait give way to others (tpsl/yield): a file in folder. It is there when the ranks are
// more than the CPUs they may use, unless TPSL_YIELD has it otherwise.
func (s *Set) Yields(folder string, getenv func(string) string) ([]string, error) {
	shim := []string{filepath.Join(folder, "libtpslyield.so")}
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

// Look finds out whether the ranks are Crowded.
func (s *Set) Look() { s.Crowded = s.crowded(runtime.NumCPU(), online()) }

// crowded tells whether ranks must share CPUs. Of a process that is bound, and it alone
// has CPUs for its ranks, allowed are only its own: others of the host may have the same.
func (s *Set) crowded(allowed, online int) bool {
	if len(s.CPUs) > 0 {
		return len(s.Ranks) > allowed || s.LocalRanks > online
	}
	return s.LocalRanks > allowed
}

// online counts the host's CPUs.
func online() (n int) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return runtime.NumCPU()
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), ",") {
		if first, last, ok := ranges.Parse(part); ok {
			n += last - first + 1
		}
	}
	return n
}

// crowdedDefaults keep each of many ranks from what is not worth its time at start-up.
var crowdedDefaults = []struct{ name, value string }{
	// hwloc would read the configuration of all PCI devices, 8 ms a rank in a virtual machine.
	{"HWLOC_COMPONENTS", "-pci,-linux:pci"},
	// UCX would take and clear 4 MiB for messages, twice, before the first comes.
	{"UCX_MM_RX_BUFS_GROW", "64"},
}
