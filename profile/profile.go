// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import "time"

// Format is the version of the file.
const Format = 1

// A Profile is what the ranks of a job did in MPI. Times are in seconds, sizes in bytes. Ranks, hosts, places and communicators refer to each
// other by their indices.
type Profile struct {
	Format        int            `json:"format"`
	Job           Job            `json:"job"`
	Hosts         []Host         `json:"hosts"`
	Ranks         []Rank         `json:"ranks"`
	Places        []Place        `json:"places"`
	Communicators []Communicator `json:"communicators"`
	Notes         []string       `json:"notes"` // sentences on what is missing or not exact
}

// A Job is what was run.
type Job struct {
	Command   string    `json:"command"` // programs and their arguments, without options of mpiexec
	Layout    string    `json:"layout"`  // in words: how ranks were put on hosts and in processes
	Version   string    `json:"version"` // of tpsl
	Library   string    `json:"library"` // the MPI library's name and version, or ""
	Began     time.Time `json:"began"`
	Elapsed   float64   `json:"elapsed"`
	ExitCode  int       `json:"exit_code"` // of mpiexec
	Processes int       `json:"processes"`
}

// A Host is one on which ranks ran.
type Host struct {
	Name string `json:"name"`
	CPUs int    `json:"cpus"` // on which its ranks may run; 0: not known
	// ClockError is the greatest error of times of this host against those of the first. Times are corrected by what messages took.
	ClockError float64 `json:"clock_error"`
}

// A Rank is what one rank did.
type Rank struct {
	Group   int      `json:"group"`   // 0, or the number of the group that a job has spawned
	Rank    int      `json:"rank"`    // in the world of its group
	Host    int      `json:"host"`    // index
	Process int      `json:"process"` // number in the job: ranks with the same one share an address space
	Counted bool     `json:"counted"` // false: it made no MPI call that was counted, and nothing below is known
	Ended   bool     `json:"ended"`   // it has come back from MPI_Finalize
	Elapsed float64  `json:"elapsed"` // from its first MPI call to the end of MPI_Finalize, or to the last call that is known
	MPI     float64  `json:"mpi"`     // that its threads were in MPI calls
	Calls   []Calls  `json:"calls"`
	Peers   []Peer   `json:"peers"`
	Spread  []Spread `json:"spread,omitempty"` // belongs to the matrix of peers as well
	Sizes   []Size   `json:"sizes"`
}

// Outside is the time that the rank was not in MPI calls.
func (r *Rank) Outside() float64 { return max(0, r.Elapsed-r.MPI) }

// Between is the time of the rank without its MPI_Init and MPI_Finalize: what it spent between these two.
func (r *Rank) Between() float64 { return r.Outside() + r.inside() }

// inside is the time in MPI calls between MPI_Init and MPI_Finalize.
func (r *Rank) inside() float64 {
	inside := min(r.MPI, r.Elapsed)
	for i := range r.Calls {
		if isStartOrEnd(r.Calls[i].Function) {
			inside -= r.Calls[i].Time
		}
	}
	return max(0, inside)
}

// Other, as an index of places and communicators, stands for what did not fit into a table. None stands for nothing.
const (
	Other = -1
	None  = -2
)

// Calls are those of a function from one place on one communicator.
type Calls struct {
	Function     string  `json:"function"`     // as MPI_Send; "" for those that did not fit into the table
	Place        int     `json:"place"`        // index, or Other
	Communicator int     `json:"communicator"` // index, Other or None
	Calls        int64   `json:"calls"`
	Bytes        int64   `json:"bytes"` // sent by sends, received by receives and by what completes them, given to collective operations
	Time         float64 `json:"time"`  // sum
	Min          float64 `json:"min"`
	Max          float64 `json:"max"`
	// Late is by how much later than the mean of the members the rank has come, as a mean of all calls: of collective operations that
	// all members have called equally often from the same place. Negative: earlier.
	Late *float64 `json:"late,omitempty"`
}

// An Amount is of messages, or of operations, with the bytes of them all.
type Amount struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

// A Peer is what a rank has brought to another one, and taken from it.
type Peer struct {
	Rank       int    `json:"rank"`                // index of the rank; Other: several, or those of other worlds
	Sent       Amount `json:"sent,omitzero"`       // point to point
	Received   Amount `json:"received,omitzero"`   // point to point
	Put        Amount `json:"put,omitzero"`        // one-sided: put and accumulated there
	Got        Amount `json:"got,omitzero"`        // one-sided: read there
	Collective Amount `json:"collective,omitzero"` // implied by collective operations: what the rank gave that this one needs
}

// A Way is how data move.
type Way string

// The ways.
const (
	Messages   Way = "messages"
	OneSided   Way = "one-sided"
	Collective Way = "collective"
)

// A Size is a class of sizes: of messages that were sent, of one-sided operations, or of what was given to collective operations.
type Size struct {
	Way   Way   `json:"way"`
	From  int64 `json:"from"` // bytes: 0, 1, 2, 4, 8, ...; the class goes to the next one
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

// A Place is where a program calls MPI.
type Place struct {
	File     string `json:"file"`     // as the compiler was told of it; "" if the program has no debugging information
	Line     int    `json:"line"`     // 0 if not known
	Function string `json:"function"` // that has the call, or ""
	Object   string `json:"object"`   // path of the program or library that has the call, or ""
}

// A Spread is what collective operations of a rank brought to all other members of a communicator: the amount is for each of them. It
// stands here and not among the peers, as it would make these as many as the square of the ranks.
type Spread struct {
	Communicator int `json:"communicator"` // index
	Amount
}

// A Communicator is one that ranks have used.
type Communicator struct {
	Name    string `json:"name"` // that MPI_Comm_set_name gave, MPI_COMM_WORLD or MPI_COMM_SELF; or ""
	Size    int    `json:"size"`
	Members string `json:"members"` // those ranks (indices) that have used it, as 0-3,7
}
