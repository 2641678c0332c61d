// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package image reads what a dynamic linker must know of an x86-64 ELF file.
//
// An image is one file, parsed; nothing is mapped for execution. It is read as
// ld.so reads it: program headers, then PT_DYNAMIC, then the tables that it
// points to. Section headers are never looked at; a file may lack them. All
// addresses are virtual addresses as the file states them, before any load bias.
// A definition is a symbol the object has, a reference one that it wants; an
// export is a definition that other objects can bind to.
//
// Every malformed file is an error that names file and field. What [Parse]
// returns has its segments, tables, names and versions checked, so that reading
// it needs neither more time nor more memory than a small multiple of its size.
// Values of symbols are not checked, they may lie anywhere.
//
// What is not safe. [Open] maps the file: a file that another process shortens
// meanwhile kills this one by SIGBUS, as it does everyone who runs it. After
// [Image.Close] only the exported fields and values that methods returned
// earlier may be used; they are copies.
//
// The methods may be called from any goroutines at once, save Close.
package image
