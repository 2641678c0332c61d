// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package cpython

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// A Place is where a program is looked for and started.
type Place struct {
	Env  []string                                   // entries NAME=value
	Dir  string                                     // the working directory, an absolute path
	Look func(name string) (path string, err error) // finds a program by its name, as execvp(3) does with Env and Dir
}

// An Interpreter is the CPython that runs a program.
type Interpreter struct {
	Path  string   // its file, perhaps a link
	Args  []string // what its arguments begin with, in place of the program's name: its own name, and for a script what the kernel adds
	Fixed bool     // it is not position-independent

	place Place
	facts *facts // what a shim has told; nil: nobody was asked
}

// mainFunction is what every interpreter since CPython 3.8 calls in its main. It exports the function if it is linked with libpython
// statically, because extension modules refer to it, and imports it otherwise.
const mainFunction = "Py_BytesMain"

// mostScripts bounds how often a script is the interpreter of a script (BINPRM_MAX_RECURSION in fs/exec.c of Linux is 4).
const mostScripts = 5

// Find returns the interpreter that runs the program at path under a name, its argument 0. It is nil if CPython does not run it.
// The error is that of a shim that was asked.
func Find(path, name string, place Place) (*Interpreter, error) {
	i := &Interpreter{Path: path, Args: []string{name}, place: place}
	for range mostScripts {
		is, fixed := judge(i.Path)
		switch {
		case is:
			i.Fixed = fixed
			return i, nil
		case i.facts == nil && isShim(i.Path):
			var err error
			if i.facts, err = ask(i.Path, i.Args[0], place); err != nil {
				return nil, err
			}
			i.Path, i.Args[0] = i.facts.executable, i.facts.executable
		case !i.followScript():
			return nil, nil
		}
	}
	return nil, nil
}

// Is reports whether a file is a CPython.
func Is(path string) bool {
	is, _ := judge(path)
	return is
}

// open opens a regular file. Another one, such as a FIFO, might never answer.
func open(path string) (*os.File, error) {
	about, err := os.Stat(path)
	if err == nil && !about.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// judge reports whether a file is a CPython, and whether it is not position-independent.
func judge(path string) (is, fixed bool) {
	file, err := open(path)
	if err != nil {
		return false, false
	}
	defer file.Close()
	program, err := elf.NewFile(file)
	if err != nil {
		return false, false
	}
	symbols, err := program.DynamicSymbols()
	is = err == nil && slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == mainFunction })
	return is, program.Type == elf.ET_EXEC
}

var interpreterName = regexp.MustCompile(`^python[0-9.]*[a-z]*$`)

// isShim reports whether a file is a script by the name of an interpreter. It may be run to ask what it starts, which no other script may.
func isShim(path string) bool {
	return interpreterName.MatchString(filepath.Base(path)) && firstLine(path) != ""
}
