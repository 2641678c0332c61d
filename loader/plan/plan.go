// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"sync"

	"github.com/tpsl/tpsl/loader/image"
)

// A Plan is the blueprint of an instance. Object and import indices are its
// own; an extension keeps the indices of the plan it extends.
type Plan struct {
	Objects []*Object // breadth-first; Objects[0] is the library asked for
	Imports []Import

	// FirstNew is the index of the first object that the plan adds to the one
	// it extends, 0 for a plan of its own.
	FirstNew int
	// Root is the index of the object asked for: 0, or that of an extension.
	Root int
	// Global lists the objects of the global scope, in the order of lookup: those that the
	// first library came with, and what was opened for all since.
	Global []int
	// Start lists the new objects that the loader maps, dependencies first.
	Start []int
	// StandIn is the object that stands in the C library's place; nil: none does.
	StandIn *Object
	// StaticTLS is how much of each thread's static block the objects use, from
	// its end down.
	StaticTLS uint64
	// ExecStack says that code of an object runs on stacks.
	ExecStack bool

	maker      *maker
	mu         sync.Mutex
	extensions map[extension]*Plan
}

// An Opening is how a library is opened on top of a plan, as dlopen is told.
type Opening struct {
	Global bool   // RTLD_GLOBAL: all see its symbols from then on
	Deep   bool   // RTLD_DEEPBIND: it sees its own symbols before the global ones
	Folder string // the working directory of who opens it; "" that of the process
}

// An extension is which library was opened on top of a plan, and how.
type extension struct {
	file image.FileID
	how  Opening
}

// An Object is one ELF object of a plan.
type Object struct {
	Name      string // SONAME, or the file's name
	Path      string
	ID        image.FileID
	Placement Placement
	CLibrary  bool     // the C library, or a part of it
	Wrapped   bool     // the functions that Options.Wrapped names are the caller's in place of its own
	Deps      []int    // in DT_NEEDED order; of a shared one: none
	names     []string // that a need is met by
	loader    *Object  // that needed it first; nil: none

	// Only for placements private and once.
	Span       image.Range
	Loads      []image.Load
	TLS        image.TLS
	Relro      image.Range
	Dynamic    image.Range
	Phdr       uint64 // of the program headers, 0: no segment holds them
	Phnum      int
	EHFrameHdr uint64 // of PT_GNU_EH_FRAME, 0: none
	Symtab     uint64
	Strtab     uint64
	GNUHash    uint64
	SysVHash   uint64
	Versym     uint64
	Verdef     uint64
	VerdefNum  int
	Symbols    uint32 // in the dynamic symbol table
	Init       uint64 // address of the function, 0 none
	Fini       uint64
	Entry      uint64 // of a program
	InitArray  image.Range
	FiniArray  image.Range
	Stores     []Store

	// StaticTLS is the distance of the TLS segment from the end of each thread's
	// static block, 0: it is not there.
	StaticTLS uint64
}

// Kind says how the value of a store is made. Base is where an object is mapped.
type Kind uint8

// The kinds of stores. All store 8 bytes but descriptors and copies.
const (
	Relative           Kind = iota // base of this object + Addend
	Local                          // base of object Target + Addend
	Imported                       // import Target + Addend
	Constant                       // Addend
	Module                         // TLS module id of object Target
	ThreadOffset                   // start of the TLS segment of object Target, from the thread pointer + Addend
	IFunc                          // result of calling base of object Target + Addend
	Descriptor                     // of two words: TLS descriptor of Addend in the TLS segment of object Target
	DescriptorImported             // the same in the shared module of import Target
	DescriptorAbsent               // the same of address Addend
	CopyLocal                      // Size bytes from base of object Target + Addend
	CopyImported                   // Size bytes from import Target
)

// A Store is one relocation, resolved.
type Store struct {
	Offset uint64 // where, from the base of the object
	Kind   Kind
	Target uint32
	Addend int64
	Size   uint64 // CopyLocal, CopyImported
}

// Source says where the process finds an import.
type Source uint8

// The sources of imports.
const (
	FromProcess    Source = iota // global scope, else the library named
	FromRebind                   // the loader's rebind table
	TLSModuleOf                  // TLS module id of the shared library that defines Name
	FromWrapper                  // function Name of the loader's caller, in front of a library's
	ThreadOffsetOf               // offset from the thread pointer of the shared library's thread-local Name
)

// An Import is a value that a plan takes from the process: comparable, free of
// addresses.
type Import struct {
	Source  Source
	Name    string
	Version string // "" none
	Library string // SONAME of the shared library that defines it, "" unknown
	Weak    bool   // absent: zero
	Wanted  string // object that wants it first, for messages
}
