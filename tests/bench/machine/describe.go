// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Processor returns the name of this machine's.
func Processor() string { return field(fileText("/proc/cpuinfo"), "model name") }

// Describe writes what the figures depend on as configuration lines of Go's benchmark format.
func Describe(w io.Writer, day time.Time) {
	fmt.Fprint(w, "# SPDX-FileCopyrightText: The tpsl authors\n# SPDX-License-Identifier: Apache-2.0\n\n")
	cpus := fileText("/proc/cpuinfo")
	virtual := "no"
	if strings.Contains(field(cpus, "flags"), "hypervisor") {
		virtual = "yes"
	}
	for _, line := range [][2]string{
		{"# date", day.Format(time.DateOnly)},
		{"goos", runtime.GOOS},
		{"goarch", runtime.GOARCH},
		{"cpu", Processor()},
		{"cpus", fmt.Sprintf("%d, namely %s", runtime.NumCPU(), field(fileText("/proc/self/status"), "Cpus_allowed_list"))},
		{"caches", caches()},
		{"smt", map[string]string{"0": "off", "1": "on"}[fileText("/sys/devices/system/cpu/smt/active")]},
		{"governor", fileText("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
		{"virtual", virtual},
		{"memory", field(fileText("/proc/meminfo"), "MemTotal")},
		{"kernel", fileText("/proc/sys/kernel/osrelease")},
		{"libc", printed("getconf", "GNU_LIBC_VERSION")},
		{"# load", fileText("/proc/loadavg")},
	} {
		if line[1] == "" {
			line[1] = "unknown"
		}
		fmt.Fprintf(w, "%s: %s\n", line[0], line[1])
	}
}

// DescribeBuild returns such lines about what was decided when the programs were built.
func DescribeBuild() string {
	mpich := printed("mpichversion")
	commit := printed("git", "rev-parse", "--short=12", "HEAD")
	if commit != "" && printed("git", "status", "--porcelain", "-uno") != "" {
		commit += " with changes"
	}
	compiler, _, _ := strings.Cut(printed("gcc", "--version"), "\n")
	return fmt.Sprintf("# commit: %s\ncompiler: %s\nmpich: %s, %s\nucx: %s\n",
		orUnknown(commit), orUnknown(compiler), field(mpich, "MPICH Version"), field(mpich, "MPICH Device"),
		orUnknown(printed("dpkg-query", "-W", "-f", "${Version}", "libucx0")))
}

// printed returns what a command prints, "" if it cannot.
func printed(argv ...string) string {
	out, _ := exec.Command(argv[0], argv[1:]...).Output()
	return strings.TrimSpace(string(out))
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// fileText returns the text of a small file, "" if there is none.
func fileText(path string) string {
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}

// caches lists the data caches of the first processor: "L1 32K, L2 1024K".
func caches() string {
	var all []string
	folders, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	for _, folder := range folders {
		if fileText(filepath.Join(folder, "type")) != "Instruction" {
			all = append(all, "L"+fileText(filepath.Join(folder, "level"))+" "+fileText(filepath.Join(folder, "size")))
		}
	}
	return strings.Join(all, ", ")
}

// field returns the value of the first "name : value" line, or "unknown".
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
