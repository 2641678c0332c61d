// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
)

// language is what tpslcc, tpslcxx and tpslfort differ in.
type language struct {
	name     string   // of the command
	what     string   // the compiler, in words
	compiler string   // unless asked for another one
	variable string   // that names another one
	option   string   // that names another one
	flags    []string // to compile
	bindings []string // libraries over the MPI library; the first that is found is linked
}

var languages = []language{
	{name: "tpslcc", what: "C compiler", compiler: "gcc", variable: "TPSL_CC", option: "-cc="},
	{
		name: "tpslcxx", what: "C++ compiler", compiler: "g++", variable: "TPSL_CXX", option: "-cxx=",
		flags: []string{"-DMPICH_SKIP_MPICXX"}, // the C++ bindings left MPI with version 3
	},
	{
		name: "tpslfort", what: "Fortran compiler", compiler: "gfortran", variable: "TPSL_FC", option: "-fc=",
		// mpif.h has BOZ constants, and choice buffers are of any type (gfortran 10 and later).
		flags:    []string{"-fallow-invalid-boz", "-fallow-argument-mismatch"},
		bindings: []string{"mpichfort", "mpifort"},
	},
}

// languageOf returns the language that the command's name asks for: that of C, unless it says otherwise.
func languageOf(command string) language {
	for _, l := range languages {
		if filepath.Base(command) == l.name {
			return l
		}
	}
	return languages[0]
}

// link returns the flags for the language's binding: the one beside the MPI library whose headers are in include, else
// one that the linker finds by itself. None for a language without.
func (l language) link(include string) []string {
	dir := filepath.Join(filepath.Dir(include), "lib")
	for _, b := range l.bindings {
		if _, err := os.Stat(filepath.Join(dir, "lib"+b+".so")); err == nil {
			return []string{"-L" + dir, "-Wl,-rpath," + dir, "-l" + b}
		}
	}
	if len(l.bindings) == 0 {
		return nil
	}
	return []string{"-l" + l.bindings[0]}
}
