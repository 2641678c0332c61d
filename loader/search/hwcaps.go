// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"os"
	"strings"
)

// hwcapsDir holds subdirectories with libraries for processors of at least some
// level, in any directory of libraries.
const hwcapsDir = "glibc-hwcaps"

// levels are the psABI's micro-architecture levels, best first, and the flags of
// /proc/cpuinfo that each adds to the next.
var levels = []struct{ name, flags string }{
	{"x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"},
	{"x86-64-v3", "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"},
	{"x86-64-v2", "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"},
}

// hwcapSubdirs returns the subdirectories that ld.so searches on this machine,
// best first.
func hwcapSubdirs() []string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	return subdirsFor(string(info))
}

// subdirsFor takes the first processor's flags from the text of /proc/cpuinfo.
func subdirsFor(cpuinfo string) []string {
	have := map[string]bool{}
	for line := range strings.Lines(cpuinfo) {
		if key, flags, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "flags" {
			for _, f := range strings.Fields(flags) {
				have[f] = true
			}
			break
		}
	}
	var names []string
	for i := len(levels) - 1; i >= 0; i-- {
		for _, f := range strings.Fields(levels[i].flags) {
			if !have[f] {
				return names
			}
		}
		names = append([]string{levels[i].name}, names...)
	}
	return names
}
