// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"strconv"

	"github.com/tpsl/tpsl/internal/mpilib"
)

// Limit is a limit or an amount; negative values are no number.
type Limit int64

// What is no number.
const (
	Unlimited Limit = -1
	Unknown   Limit = -2
)

func (l Limit) String() string {
	switch l {
	case Unlimited:
		return "unlimited"
	case Unknown:
		return "unknown"
	}
	return strconv.FormatInt(int64(l), 10)
}

// mib returns bytes in MiB.
func (l Limit) mib() Limit {
	if l < 0 {
		return l
	}
	return l >> 20
}

// size prints bytes for people.
func (l Limit) size() string {
	if l < 0 {
		return l.String()
	}
	if l < 1<<20 {
		return fmt.Sprintf("%d KiB", l>>10)
	}
	return fmt.Sprintf("%d MiB", l>>20)
}

// Facts are what was found. Strings that could not be found out are empty.
type Facts struct {
	Version      string       `json:"version"` // of the tpsl that looks
	System       System       `json:"system"`
	Limits       Limits       `json:"limits"`
	RDMA         []Port       `json:"rdma"`
	Libraries    []Library    `json:"libraries"`
	Chosen       Chosen       `json:"mpi_library"`
	Private      Private      `json:"private"`
	Installation Installation `json:"installation"`
	Environment  []string     `json:"environment"` // NAME=value of what MPI and tpsl read
}

// System is the machine and what runs it.
type System struct {
	Kernel       string `json:"kernel"`
	Distribution string `json:"distribution"`
	Glibc        string `json:"glibc"`
	CPU          string `json:"cpu"`
	CPUsOnline   int    `json:"cpus_online"`
	CPUsAllowed  int    `json:"cpus_allowed"`
	Container    string `json:"container"`     // its kind
	CgroupCPU    string `json:"cgroup_cpu"`    // "quota period" in microseconds
	CgroupMemory Limit  `json:"cgroup_memory"` // bytes
	CgroupPids   Limit  `json:"cgroup_pids"`
	InfiniBand   bool   `json:"infiniband"`
	Root         bool   `json:"root"`

	LibcLacks    []string `json:"libc_lacks"`    // names of glibc that tpsl would use
	ShadowStacks bool     `json:"shadow_stacks"` // kernel and CPU have them for programs
}

// Port is one of an RDMA device.
type Port struct {
	Name    string `json:"name"`
	Trouble string `json:"trouble"` // why it cannot be used
	Remedy  string `json:"remedy"`
}

// Limits are those of a program started from here; sizes are in bytes.
type Limits struct {
	MaxMapCount       Limit  `json:"max_map_count"`
	FilesSoft         Limit  `json:"nofile_soft"`
	FilesHard         Limit  `json:"nofile_hard"` // libtpsl raises the soft one to it
	AddressSpace      Limit  `json:"address_space"`
	LockedMemory      Limit  `json:"memlock"`
	Core              Limit  `json:"core"`
	CorePattern       string `json:"core_pattern"`
	ShmSize           Limit  `json:"shm_size"`
	ShmFree           Limit  `json:"shm_free"`
	PtraceScope       Limit  `json:"ptrace_scope"` // unknown: there is no Yama
	Seccomp           Limit  `json:"seccomp"`      // mode of proc_pid_status(5)
	PerfEventParanoid Limit  `json:"perf_event_paranoid"`
	CrossMemory       string `json:"cross_memory"` // "works", or why process_vm_readv from a child did not

	RanksByFiles   Limit `json:"ranks_by_nofile"` // ranks of a process that a limit allows, about
	RanksByMaps    Limit `json:"ranks_by_max_map_count"`
	RanksByAddress Limit `json:"ranks_by_address_space"`
	RanksByShm     Limit `json:"ranks_by_shm"` // of all processes of the host
}

// What Limits.CrossMemory says, or begins with, if the kernel did not refuse.
const (
	crossMemoryWorks    = "works"
	crossMemoryNotTried = "not tried: "
)

// Library is a file that is, or was taken for, an MPI library.
type Library struct {
	Wanted  string     `json:"wanted"` // the name or path that led to it
	By      string     `json:"by"`     // who wants it: "argument", "TPSL_MPI_LIBRARY", "default"
	Path    string     `json:"path"`
	Error   string     `json:"error"` // why there is no such library; then the rest is empty
	Soname  string     `json:"soname"`
	ABI     mpilib.ABI `json:"abi"`
	Version string     `json:"version"`

	// Only with the MPICH ABI, or with the standard one.
	Missing []string `json:"missing"` // names of libtpsl's list that it lacks
	Extra   []string `json:"extra"`   // MPI names that libtpsl lacks
	Closure []Placed `json:"closure"` // empty if refused
	Refused []string `json:"refused"` // what the loader would not do, and why
}

// Placed is a library of a closure and where the policy puts it.
type Placed struct {
	Name      string `json:"name"`
	Placement string `json:"placement"`
	Path      string `json:"path"`
}

// Private says which of a program's own libraries each rank has to itself.
type Private struct {
	Patterns []string `json:"patterns"` // of file names; all others are shared
	Error    string   `json:"error"`    // what is wrong with TPSL_POLICY or TPSL_PRIVATE
}

// Chosen is the MPI library that libtpsl would take, or its words for why there is
// none.
type Chosen struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Installation is the tree that this program is in, and what PATH leads to.
type Installation struct {
	Prefix       string   `json:"prefix"`
	Libtpsl      string   `json:"libtpsl"`
	LibtpslError string   `json:"libtpsl_error"`
	LibtpslGo    string   `json:"libtpsl_go"`      // version of Go that built it
	LibtpslIs    string   `json:"libtpsl_version"` // "" it has no stamp
	LibtpslLacks int      `json:"libtpsl_lacks"`   // names of this tpsl's list
	Unmet        []string `json:"unmet_versions"`  // what its libraries need and this machine's lack
	Packaged     string   `json:"package_version"` // as lib/pkgconfig/tpsl.pc has it
	Mpiexec      string   `json:"mpiexec"`         // first in PATH
	MpiexecKind  string   `json:"mpiexec_kind"`    // "this installation", or what its --version begins with
	Tpslcc       string   `json:"tpslcc"`          // first in PATH
	TpslccIsThis bool     `json:"tpslcc_is_this"`
}

// kindOurs is Installation.MpiexecKind of our own.
const kindOurs = "this installation"
