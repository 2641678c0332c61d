// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// pin binds the calling OS thread to a CPU and returns what gives it back the
// ones that it had.
func pin(cpu int) (unpin func(), err error) {
	var before, now unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, fmt.Errorf("ask for the CPUs of a worker: %w", err)
	}
	now.Set(cpu)
	if err := unix.SchedSetaffinity(0, &now); err != nil {
		return nil, fmt.Errorf("pin a worker to CPU %d, of which %d are allowed: %w", cpu, before.Count(), err)
	}
	return func() { _ = unix.SchedSetaffinity(0, &before) }, nil
}
