// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package plan decides everything about private instances of a library that
// does not depend on where they will be mapped.
//
// A [Plan] lists the objects of a library's closure with their placement, and for
// each object that the loader maps itself the stores its relocations come to,
// with every symbol resolved. An instance is then mmap plus stores. Making a plan
// reads files and touches no other system state; a plan holds no address of this
// process and can be serialised.
//
// Words. Placement: "private" objects are mapped once per instance, "once"
// objects once per process by the loader, "shared" objects are the process's own
// from ld.so. An import is a symbol that a plan takes from the process. A
// rebound name is an import that the loader answers itself.
//
// A plan is immutable once made, but for its memory of extensions, which a lock
// guards: all methods may be called from any goroutine.
package plan
