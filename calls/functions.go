// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// A waitKind says for whom a call waits.
type waitKind string

// The kinds of functions.h.
const (
	waitsForReceiver  waitKind = "SEND"
	waitsForSender    waitKind = "RECEIVE"
	waitsForBoth      waitKind = "SENDRECV"
	waitsForAll       waitKind = "ALL"
	waitsForRoot      waitKind = "ROOT"
	rootWaitsForAll   waitKind = "GATHERED"
	waitsForSome      waitKind = "SOME"
	waitsForJob       waitKind = "END" // the rank calls nothing else any more
	waitsForSomething waitKind = "OTHER"
)

// A function is one that functions.h lists.
type function struct {
	name                        string // without MPI_
	kind                        waitKind
	mayWait                     bool
	hasComm, hasPeer, hasSource bool
}

//go:embed front/functions.h
var functionsHeader string

// functions are in the order of functions.h, which is that of the numbers in notes. The header is read at the first use: most jobs of
// mpiexec do without.
var functions = sync.OnceValue(func() []function { return readFunctions(functionsHeader) })

// functionLine is compiled when it is needed, for the same reason.
func functionLine() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(LARGE_)?(CALL|START|OTHER)\((.*)\)$`)
}

func readFunctions(header string) (list []function) {
	for _, line := range functionLine().FindAllStringSubmatch(header, -1) {
		args := strings.Split(line[3], ", ")
		f := function{name: args[0], kind: waitsForSomething}
		if line[2] == "CALL" {
			f.mayWait, f.kind, f.hasComm, f.hasPeer, f.hasSource = true, waitKind(args[2]), args[3] != none, args[4] != none, args[6] != none
		}
		list = append(list, f)
		if line[1] != "" {
			f.name += "_c"
			list = append(list, f)
		}
	}
	return list
}

// none stands in functions.h for an argument that a function does not have.
const none = "NONE"

// isCollective reports whether all members of a communicator call the function.
func (f function) isCollective() bool {
	switch f.kind {
	case waitsForAll, waitsForRoot, rootWaitsForAll, waitsForSome:
		return f.hasComm
	}
	return false
}

// isRooted reports whether the peer of the call is the root of a collective operation.
func (f function) isRooted() bool { return f.isCollective() && f.hasPeer }

// operation is the function's name without the suffix for large counts.
func (f function) operation() string { return strings.TrimSuffix(f.name, "_c") }

// functionOf returns the function of a number, and that of unknown things for another one.
func functionOf(number int) function {
	if number < 0 || number >= len(functions()) {
		return function{name: "call of unknown number", kind: waitsForSomething}
	}
	return functions()[number]
}

var functionsByName = sync.OnceValue(func() map[string]function {
	byName := map[string]function{}
	for _, f := range functions() {
		byName["MPI_"+f.name] = f
	}
	return byName
})

// IsCollective reports whether all members of a communicator make such a call, and wait in it. The name begins with MPI_.
func IsCollective(name string) bool { return functionsByName()[name].isCollective() }

// IsSynchronising reports whether no member of a communicator returns from such a call before all have made it.
func IsSynchronising(name string) bool {
	f := functionsByName()[name]
	return f.isCollective() && f.kind == waitsForAll
}

// MayWait reports whether such a call may wait for other ranks.
func MayWait(name string) bool { return functionsByName()[name].mayWait }
