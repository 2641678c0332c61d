// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package globals

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

var (
	// inModule matches a variable of a Fortran module, by gfortran's names.
	inModule = regexp.MustCompile(`^__([\w.]+)_MOD_(\w+)$`)
	// numbered matches what a compiler adds to the names of static variables to tell them apart.
	numbered = regexp.MustCompile(`(\.lto_priv)?(\.\d+)+$`)
	// reserved matches names that C and C++ reserve for the compiler and its libraries, and those that no language has.
	// Names that begin with _Q are those of LLVM's Fortran compiler for the variables of modules and procedures.
	reserved = regexp.MustCompile(`^(__|_[A-PR-Z]|\.|DW\.ref\.)`)
	// tagged matches the tags of the library's version of a type (std::string) in a name.
	tagged = regexp.MustCompile(`\[abi:\w+\]`)
	// ofRuntime matches the C++ names of guards, temporaries, tables of types, and all of the standard library; also of
	// static variables in its functions.
	ofRuntime = regexp.MustCompile(`^_Z(GV|GR|T|Z*(St|NK?St|NK?9__gnu_cxx|NK?10__cxxabiv1))`)
)

// blankCommon is the symbol of Fortran's COMMON block without a name.
const blankCommon = "__BLNK__"

// ofImplementation reports whether a symbol is one of the compiler, its libraries or the C library.
func ofImplementation(symbol string) bool {
	if module := inModule.FindStringSubmatch(symbol); module != nil {
		return strings.HasPrefix(module[2], "__") // tables of a derived type
	}
	if isCxx(symbol) {
		return ofRuntime.MatchString(symbol)
	}
	return symbol != blankCommon && reserved.MatchString(symbol)
}

func isCxx(symbol string) bool { return strings.HasPrefix(symbol, "_Z") }

// readable returns the name of a variable as its source has it. Without a declaration that is as much as the symbol
// tells, which in C and for COMMON blocks is not the scope.
func readable(symbol string, d *declaration) string {
	name := numbered.ReplaceAllString(symbol, "")
	module := inModule.FindStringSubmatch(name)
	switch {
	case isCxx(name):
		return tagged.ReplaceAllString(demangle.Filter(name), "")
	case module != nil:
		return module[1] + "::" + module[2]
	case name == blankCommon:
		return "blank common"
	case d == nil:
		return name
	case d.common:
		return "common /" + d.name + "/"
	case d.function != "":
		return d.function + "()::" + d.name
	}
	return d.name
}
