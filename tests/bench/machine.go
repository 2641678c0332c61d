// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// describeMachine writes what the figures depend on as configuration lines of
// Go's benchmark format.
func describeMachine(w io.Writer) error {
	cpus, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return err
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return err
	}
	libc, err := exec.Command("getconf", "GNU_LIBC_VERSION").Output()
	if err != nil {
		return fmt.Errorf("ask for the libc version: %w", err)
	}
	mpich, err := exec.Command("mpichversion").Output()
	if err != nil {
		return fmt.Errorf("ask for the MPICH version: %w", err)
	}
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\n", runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(w, "cpu: %s\n", field(string(cpus), "model name"))
	fmt.Fprintf(w, "cpus: %d\n", runtime.NumCPU())
	fmt.Fprintf(w, "kernel: %s\n", strings.TrimSpace(string(kernel)))
	fmt.Fprintf(w, "libc: %s\n", strings.TrimSpace(string(libc)))
	fmt.Fprintf(w, "mpich: %s, %s\n\n", field(string(mpich), "MPICH Version"), field(string(mpich), "MPICH Device"))
	return nil
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
