// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import "time"

// Mode tells how a program's ranks share processes.
type Mode string

// The modes of -tpsl.
const (
	ModeAuto    Mode = "auto"    // by the libraries the program needs
	ModeShared  Mode = "shared"  // an ordinary process whose threads claim slots
	ModePrivate Mode = "private" // the program is loaded once per rank
)

// Options is what a command line asks for.
type Options struct {
	Action  Action
	Topic   *option // of -OPTION -h
	Env     []string
	Inherit []string // names to pass on from mpiexec's environment; nil passes all
	Bind    Binding
	Label   bool
	Verbose bool
	Timeout time.Duration // 0 is no limit

	Segments []Segment
}

// Action is what mpiexec does after reading its options.
type Action int

// The actions.
const (
	ActionRun Action = iota
	ActionHelp
	ActionVersion
)

// A Segment is one program of an MPMD command line, between colons.
type Segment struct {
	Ranks      int
	PerProcess int // ranks in one process
	Mode       Mode
	Env        []string
	Wdir       string
	Args       []string // program and its arguments
}
