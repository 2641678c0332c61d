// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

// The kinds of files.
const (
	KindLibrary        = "library"           // an instance can be opened of it
	KindProgramLibrary = "program's library" // one that every rank is to have to itself
	KindProgram        = "program"
)

// Report is what there is to say of a file. As JSON it is one object. Names of fields stay;
// new ones may come. Sizes are bytes.
type Report struct {
	File       string   `json:"file"`
	Kind       string   `json:"kind"`
	MPILibrary string   `json:"mpi_library"` // of a program, or one of its libraries: what its ranks would run on
	MPI        MPI      `json:"mpi"`         // what that library is
	Objects    []Object `json:"objects"`     // breadth-first; those of a program's MPI library behind its own
	Instance   Instance `json:"instance"`
	Modes      []Mode   `json:"modes"` // of a program

	Lacks []string `json:"lacks"` // functions of MPI that a program or its libraries refer to, and that the MPI library has not

	// Of a program that can run with threads as ranks.
	Variables []Variable `json:"shared_variables"` // that all ranks of a process would share
	Unseen    []string   `json:"unseen_variables"` // why there may be others

	Refused []string `json:"refused"`
	OK      bool     `json:"ok"` // nothing is refused, and a program has a mode
}

// MPI is what an MPI library is, by its file and the libraries that it needs. "": that does not tell.
type MPI struct {
	ABI            string `json:"abi"`            // "MPICH", "standard ABI", "Open MPI"
	Implementation string `json:"implementation"` // "MPICH", "Open MPI"
	Version        string `json:"version"`        // of the implementation
	Protocol       string `json:"protocol"`       // how its ranks find each other: "PMI", "PMIx"
}

// Object is a file of the closure.
type Object struct {
	Name        string         `json:"name"` // SONAME, or the file's name
	Path        string         `json:"path"`
	Placement   string         `json:"placement"` // "private", "once", "shared"
	Rule        string         `json:"rule"`      // the pattern that places it; "" none does
	Where       string         `json:"where"`     // file and line of the rule, the variable, or why there is none
	Text        uint64         `json:"text_bytes"`
	Data        uint64         `json:"data_bytes"`  // of writable segments, in whole pages
	Relocations map[string]int `json:"relocations"` // to write for each copy, by psABI type
	TLS         TLS            `json:"tls"`
	Init        int            `json:"constructors"`
	Rebound     []string       `json:"rebound"`
	Refused     []string       `json:"refused"`
}

// TLS is the thread-local storage of an object.
type TLS struct {
	Model  string `json:"model"`        // "": none; see models
	Bytes  uint64 `json:"bytes"`        // of each thread's block
	Static uint64 `json:"static_bytes"` // of them, those that must be in the static block
}

// Instance sums up what one instance takes.
type Instance struct {
	Text        uint64         `json:"text_bytes"` // shared with all other instances
	Data        uint64         `json:"data_bytes"` // of its own; pages that are never written stay shared
	Relocations map[string]int `json:"relocations"`
	Static      uint64         `json:"static_tls_bytes"` // of each thread's static block, with what alignment takes
	StaticMax   uint64         `json:"static_tls_max"`   // its size
	Init        int            `json:"constructors"`
	Rebound     []string       `json:"rebound"`
}

// Mode is a way for ranks to run a program.
type Mode struct {
	Name string `json:"name"` // "shared", "stand-in", "private"
	OK   bool   `json:"ok"`
	Why  string `json:"why"` // or why not, and what to do
}
