// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A Resource is what a process may use only so much of.
type Resource struct {
	Alone   uint64 // what a program takes before its first rank, for estimates
	PerRank uint64
}

// Measured with MPICH 4.0.2 over UCX 1.13.1 at 1 to 32 ranks of one process, rounded
// up.
var (
	Files   = Resource{16, 16}    // descriptors, of RLIMIT_NOFILE
	Maps    = Resource{100, 70}   // mappings, of vm.max_map_count
	Address = Resource{1700, 100} // MiB, of RLIMIT_AS: Go's runtime; libraries 50, a stack, a malloc arena
	Data    = Resource{85, 30}    // MiB, of RLIMIT_DATA: Go's runtime; libraries, two stacks, a malloc arena
	Shm     = Resource{0, 5}      // MiB of /dev/shm, when that is where the ranks of a host meet

	// Where each rank has a copy of the program, too, and is a process with descriptors of
	// its own: a program in C, with MPI. Open MPI, whose ranks are clients of PMIx, has a library per plugin.
	privateMaps  = Resource{0, 120}
	pmixMaps     = Resource{0, 400}
	privateFiles = uint64(20)
)

const privately = "-rpp" // what says how many private ranks a process has

var self = "/proc/self" // a test has it elsewhere

const mapsPerPeer = 4 // segments of ranks in other processes of the host

// Need estimates what a process with so many ranks takes.
func (r Resource) Need(ranks uint64) uint64 { return r.Alone + r.PerRank*ranks }

// Ranks estimates how many ranks a limit allows.
func (r Resource) Ranks(limit uint64) uint64 {
	if limit < r.Alone {
		return 0
	}
	return (limit - r.Alone) / r.PerRank
}

// AddressMiB and DataMiB are the address space and the data without which libtpsl does not start: the Go runtime
// reserves 1.6 GB, of which 75 MB count as data. process/limits.c, which checks it before that runtime starts, has the
// same figures.
const (
	AddressMiB = 2048
	DataMiB    = 128
)

// Check refuses, before the first instance, what would fail half-way: ranks is how many
// this process has, local how many the host has, number what says how many this process has.
func Check(ranks, local int, number string) error {
	if _, err := os.Stat(self); err != nil {
		return fmt.Errorf("look at what the process uses: %w; mount /proc", err)
	}
	if err := checkMaps(Maps, ranks, local, number); err != nil {
		return err
	}
	if err := checkFiles(ranks, number); err != nil {
		return err
	}
	return checkMemory(ranks, number)
}

// CheckPrivate is Check for the host of private ranks, each of which may open as many
// files as files says. pmix says that they are clients of PMIx.
func CheckPrivate(ranks, local int, files uint64, pmix bool) error {
	if _, err := os.Stat(self); err != nil {
		return fmt.Errorf("look at what the process uses: %w; mount /proc", err)
	}
	maps := privateMaps
	if pmix {
		maps = pmixMaps
	}
	if err := checkMaps(maps, ranks, local, privately); err != nil {
		return err
	}
	if privateFiles > files {
		return fmt.Errorf("%s about %d file descriptors, but the limit is %d: raise it with ulimit -n %d", ranksNeed(1), privateFiles, files, 2*privateFiles)
	}
	return checkMemory(ranks, privately)
}

// checkFiles goes by the soft limit, which the Go runtime raised to the hard one when it
// started.
func checkFiles(ranks int, number string) error {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return fmt.Errorf("read RLIMIT_NOFILE: %w", err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("count open files: %w", err)
	}
	if need := uint64(len(open)) + Files.PerRank*uint64(ranks); need > r.Cur {
		return fmt.Errorf("%s about %d file descriptors, but the limit is %d: raise it with ulimit -n %d, or use a smaller %s",
			ranksNeed(ranks), need, r.Cur, 2*need, number)
	}
	return nil
}

// A memory is a limit of what a process maps.
type memory struct {
	resource int
	name     string
	each     Resource
	what     string
	option   string // of ulimit
	field    int    // of /proc/PID/statm, which has what the process uses: proc(5)
}

func checkMemory(ranks int, number string) error {
	for _, m := range []memory{
		{unix.RLIMIT_AS, "RLIMIT_AS", Address, "address space", "-v", 0},
		{unix.RLIMIT_DATA, "RLIMIT_DATA", Data, "data", "-d", 5}, // with the first thread's stack, which is small
	} {
		if err := m.check(ranks, number); err != nil {
			return err
		}
	}
	return nil
}

func (m memory) check(ranks int, number string) error {
	var r unix.Rlimit
	if err := unix.Getrlimit(m.resource, &r); err != nil {
		return fmt.Errorf("read %s: %w", m.name, err)
	}
	if r.Cur == unix.RLIM_INFINITY {
		return nil
	}
	var pages [6]uint64
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(text), &pages[0], &pages[1], &pages[2], &pages[3], &pages[4], &pages[5])
	}
	if err != nil {
		return fmt.Errorf("read the program's size: %w", err)
	}
	need := pages[m.field]*uint64(os.Getpagesize())>>20 + m.each.PerRank*uint64(ranks)
	if need <= r.Cur>>20 {
		return nil
	}
	return fmt.Errorf("%s about %d MiB of %s in all, but the limit is %d: raise it with ulimit %s %d, or use a smaller %s",
		ranksNeed(ranks), need, m.what, r.Cur>>20, m.option, 2*need<<10, number)
}

func ranksNeed(n int) string {
	if n == 1 {
		return "a rank needs"
	}
	return fmt.Sprintf("%d ranks need", n)
}

func checkMaps(each Resource, ranks, local int, number string) error {
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
	need := bytes.Count(maps, []byte("\n")) + ranks*(int(each.PerRank)+mapsPerPeer*(local-ranks))
	if need > limit {
		return fmt.Errorf("%s about %d mappings, but vm.max_map_count is %d: raise it with sysctl vm.max_map_count=%d, or use a smaller %s",
			ranksNeed(ranks), need, limit, 2*need, number)
	}
	return nil
}
