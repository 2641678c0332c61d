// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"fmt"
	"math"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenVerbs tries to open a file of /dev/infiniband as libibverbs does.
func OpenVerbs(name string) error {
	fd, err := unix.Open("/dev/infiniband/"+name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// LockLimit returns how much memory a program that the caller starts may register with RDMA devices: RLIMIT_MEMLOCK, which
// holds for a process, unless it has CAP_IPC_LOCK in the first user namespace (ib_umem_get in the kernel).
func LockLimit() (uint64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return 0, fmt.Errorf("read the limit of locked memory: %w", err)
	}
	if limit.Cur == unix.RLIM_INFINITY || locksFreely() {
		return math.MaxUint64, nil
	}
	return limit.Cur, nil
}

func locksFreely() bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	var effective uint64
	_, after, _ := strings.Cut(string(status), "\nCapEff:")
	_, err = fmt.Sscanf(after, "%x", &effective)
	first := strings.Join(strings.Fields(string(users)), " ") == "0 0 4294967295"
	return err == nil && first && effective&(1<<unix.CAP_IPC_LOCK) != 0
}
