// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What a rank takes of the process's limits, measured with MPICH 4.0.2 over UCX
// 1.13.1 at 1 to 32 ranks of one process, rounded up.
const (
	fdsPerRank  = 16
	mapsPerRank = 70
	mapsPerPeer = 4 // segments of ranks in other processes of the host
)

// checkLimits raises RLIMIT_NOFILE as far as it may and refuses what cannot work.
func checkLimits(s *rankSet) error {
	if err := checkMaps(len(s.Ranks), s.LocalRanks); err != nil {
		return err
	}
	return checkFiles(len(s.Ranks))
}

func checkFiles(ranks int) error {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return fmt.Errorf("read RLIMIT_NOFILE: %w", err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("count open files: %w", err)
	}
	need := uint64(len(open) + fdsPerRank*ranks)
	if need <= r.Cur {
		return nil
	}
	if need > r.Max {
		return fmt.Errorf("%d ranks need %d file descriptors, but the limit is %d: raise it with ulimit -n %d, or use a smaller -rpp", ranks, need, r.Max, need)
	}
	r.Cur = r.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return fmt.Errorf("raise RLIMIT_NOFILE to %d: %w", r.Max, err)
	}
	return nil
}

func checkMaps(ranks, local int) error {
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		return nil // no such limit to read: the kernel will say
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("read vm.max_map_count: %w", err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return fmt.Errorf("count mappings: %w", err)
	}
	need := bytes.Count(maps, []byte("\n")) + ranks*(mapsPerRank+mapsPerPeer*(local-ranks))
	if need > limit {
		return fmt.Errorf("%d ranks need about %d mappings, but vm.max_map_count is %d: raise it with sysctl vm.max_map_count=%d, or use a smaller -rpp", ranks, need, limit, 2*need)
	}
	return nil
}
