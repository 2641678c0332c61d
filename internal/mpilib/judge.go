// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mpilib

import (
	"bytes"
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// ABI says what a file is to a program: which mpi.h the program must be compiled with.
type ABI string

// The kinds of files.
const (
	MPICH    ABI = "MPICH"
	OpenMPI  ABI = "Open MPI"     // its predefined handles are addresses of its data
	Standard ABI = "standard ABI" // of MPI 5.0, chapter 20
	NotMPI   ABI = "not MPI"
	StandIn  ABI = "stand-in" // libtpsl by the name of an MPI library, for programs linked with one
)

// Implementation is the program text that a library was built from, as far as its files tell.
type Implementation string

// The implementations that are known.
const (
	OfMPICH   Implementation = "MPICH" // or one of its relatives
	OfOpenMPI Implementation = "Open MPI"
	OfUnknown Implementation = ""
)

// Protocol is how the ranks of a library find each other, and so what a launcher must serve.
type Protocol string

// The protocols.
const (
	PMI             Protocol = "PMI" // PMI-1 or PMI-2, over the descriptor in PMI_FD
	PMIx            Protocol = "PMIx"
	UnknownProtocol Protocol = "" // a plugin of the library may still speak one
)

// A Library is what is known of an MPI library from its file and from the libraries that it needs.
type Library struct {
	Path           string // of the file itself, with no symbolic link
	ABI            ABI
	Implementation Implementation
	Version        string // what the implementation calls its version; "" if no symbol tells it
	Protocol       Protocol
}

// Of judges the library at a path. Libraries that it needs are searched for as ld.so does. If one of them is not found,
// the error says so, and the result has what the file itself tells: its path and its ABI.
func Of(path string, libraries *search.Path) (l Library, err error) {
	if l.Path, err = filepath.EvalSymlinks(path); err != nil {
		return l, err
	}
	m, err := image.Open(l.Path)
	if err != nil {
		return l, err
	}
	l.ABI = ABIOf(m)
	m.Close()
	if l.ABI == NotMPI || l.ABI == StandIn {
		return l, nil
	}
	closure, err := libraries.Closure(l.Path)
	if err != nil {
		return l, err
	}
	defer closure.Close()
	l.Implementation = implementationOf(closure)
	l.Version = versionOf(closure, l.Implementation)
	l.Protocol = protocolOf(closure, l.Implementation)
	return l, nil
}

func defines(m *image.Image, name string) bool {
	s, ok := m.Lookup(name, "")
	return ok && s.Defined()
}

// ABIOf tells the ABI of a library from its own symbols.
//
// MPI_Abi_get_version is in all libraries of MPI 5.0. Those of the standard ABI lack the conversions of handles that are
// named after Fortran (MPI_Comm_c2f), which the ABIs of MPICH and of Open MPI have.
func ABIOf(m *image.Image) ABI {
	switch {
	case m.Auxiliary == soname.Libtpsl:
		return StandIn
	case !defines(m, "PMPI_Init"):
		return NotMPI
	case defines(m, "PMPI_Abi_get_version") && !defines(m, "PMPI_Comm_c2f"):
		return Standard
	case defines(m, "ompi_mpi_init") || slices.ContainsFunc(m.Needed, isOpenMPIInside):
		return OpenMPI
	}
	return MPICH
}

// isOpenMPIInside tells the name of the library below Open MPI's own, from version 6 on.
func isOpenMPIInside(name string) bool { return strings.HasPrefix(name, "libopen_mpi.so.") }

// implementationOf looks at the inside of a library. That of Open MPI has names of its own, from version 6 on in a library
// below the one that programs are linked with. Whatever else has the MPICH ABI is of MPICH's family. In a library with the
// standard ABI a text tells.
func implementationOf(c *search.Closure) Implementation {
	for _, o := range c.Objects {
		if defines(o.Image, "ompi_mpi_init") {
			return OfOpenMPI
		}
	}
	root := c.Objects[0].Image
	if ABIOf(root) == MPICH || holds(root, "MPICH Version:") {
		return OfMPICH
	}
	return OfUnknown
}

// versionSymbols are the strings, data of the libraries, that hold their version.
var versionSymbols = map[Implementation]string{OfMPICH: "MPII_Version_string", OfOpenMPI: "ompi_version_string"}

func versionOf(c *search.Closure, i Implementation) string {
	for _, o := range c.Objects {
		s, ok := o.Image.Lookup(versionSymbols[i], "")
		if !ok || s.Type != elf.STT_OBJECT || !s.Defined() {
			continue
		}
		text, err := o.Image.Bytes(s.Value, s.Size)
		if err != nil {
			continue
		}
		version, _, _ := bytes.Cut(text, []byte{0})
		return string(version)
	}
	return ""
}

// protocolOf: Open MPI's plugins speak PMIx, from version 4 on. A library that speaks PMI has the name of the variable in
// which it finds its session. Builds of MPICH for Slurm and for Cray's launcher leave the protocol to another library.
func protocolOf(c *search.Closure, i Implementation) Protocol {
	if i == OfOpenMPI {
		return PMIx
	}
	for _, o := range c.Objects {
		if holds(o.Image, "PMI_FD") {
			return PMI
		}
	}
	for _, o := range c.Objects {
		if isPMIx(o.Name) {
			return PMIx
		}
	}
	return UnknownProtocol
}

func isPMIx(name string) bool { return strings.HasPrefix(name, "libpmix.so.") }

// MaySpeakPMIx reports whether a library of MPICH's ABI is linked with libpmix. Builds of MPICH for PMIx are, and know no PMI
// if they were built for PMIx only. It looks at one file, where [Of] looks at all that the library needs.
func MaySpeakPMIx(path string) bool {
	m, err := image.Open(path)
	if err != nil {
		return false
	}
	defer m.Close()
	return slices.ContainsFunc(m.Needed, isPMIx)
}

// holds reports whether a constant segment of a file has a text in it.
func holds(m *image.Image, text string) bool {
	for _, l := range m.Loads {
		if l.Flags&(elf.PF_W|elf.PF_X) != 0 {
			continue
		}
		if data, err := m.Bytes(l.Vaddr, l.Filesz); err == nil && bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

// StandardVersion tells the version of the MPI standard that a library has, by functions that the versions brought.
func StandardVersion(path string) (major, minor int, err error) {
	m, err := image.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer m.Close()
	for _, v := range []struct {
		function     string
		major, minor int
	}{
		{"PMPI_Abi_get_version", 5, 0},
		{"PMPI_Buffer_flush", 4, 1},
		{"PMPI_Session_init", 4, 0},
		{"PMPI_Neighbor_alltoallw", 3, 0},
	} {
		if defines(m, v.function) {
			return v.major, v.minor, nil
		}
	}
	return 2, 2, nil
}
