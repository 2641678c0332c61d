// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tpsl/tpsl/internal/cpython"
)

// python looks at a program that CPython runs, as its private ranks would run it: a file, or a name that PATH leads to. It returns
// false if CPython does not run it.
func (l *looker) python(name string) (is bool, err error) {
	path := name
	if _, err := os.Stat(name); err != nil {
		if path, err = exec.LookPath(name); err != nil {
			return false, nil
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return false, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	interpreter, err := cpython.Find(path, name, cpython.Place{Env: os.Environ(), Dir: dir, Look: exec.LookPath})
	if err != nil || interpreter == nil {
		return false, err
	}
	l.File, l.Kind = path, KindProgram
	if !interpreter.Fixed {
		l.Modes = []Mode{{modePrivate, true, "run by CPython, which is position-independent: " + interpreter.Path}}
		return true, l.pythonRanks(interpreter.Path, "")
	}
	library, err := interpreter.Library(l.search)
	if err != nil {
		l.Modes = []Mode{{modePrivate, false, err.Error()}}
		return true, nil
	}
	program, err := openInstalled(cpython.Program)
	if err != nil {
		return true, err
	}
	defer program.Close()
	l.Modes = []Mode{{modePrivate, true, "run by CPython, " + interpreter.Path + "; its ranks run " + library + " in place of that"}}
	return true, l.pythonRanks(program.Path, library)
}

// pythonRanks looks at the program that each rank has a copy of, and at the libpython that it opens.
func (l *looker) pythonRanks(program, library string) error {
	closure, err := l.search.Closure(program)
	if err != nil {
		return err
	}
	defer closure.Close()
	return l.private(closure, library)
}
