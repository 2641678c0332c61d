// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package cpython

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// Program is the file of lib/tpsl that runs a libpython, and Variable tells it the file of that.
const (
	Program  = "python"
	Variable = "TPSL_PYTHON"
)

// Library returns the file of the libpython that can run what the interpreter runs: of the same version, beside it or where
// ld.so finds it. It asks the interpreter, unless a shim has told already. An error says what to install.
func (i *Interpreter) Library(libraries *search.Path) (file string, err error) {
	if i.facts == nil {
		if i.facts, err = ask(i.Path, i.Args[0], i.place); err != nil {
			return "", err
		}
	}
	f := i.facts
	file, err = libraries.Find(filepath.Join(f.folder, f.library), nil)
	if err != nil {
		file, err = libraries.Find(f.library, nil)
	}
	needs := fmt.Sprintf("%s is not position-independent, so its ranks run %s of the same version %s", i.Path, f.library, f.version)
	if err != nil {
		return "", fmt.Errorf("%s, which is not installed; install Debian's package %s, or use an interpreter that is position-independent", needs, packageOf(f.library))
	}
	if !isVersion(file, f.version) {
		return "", fmt.Errorf("%s, and %s is of another; install both of one version, in Debian the packages %s and %s",
			needs, file, strings.TrimPrefix(packageOf(f.library), "lib"), packageOf(f.library))
	}
	return file, nil
}

// packageOf returns Debian's package of a libpython.
func packageOf(library string) string {
	name, _, _ := strings.Cut(library, ".so")
	return name
}

// isVersion reports whether a libpython is of a version: it has the text among its constants, for Py_GetVersion.
func isVersion(file, version string) bool { return image.HasConstant(file, version+"\x00") }
