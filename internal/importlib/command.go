// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package importlib

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tpsl/tpsl/internal/flags"
	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/loader/search"
)

// Usage is the text of -h.
const Usage = `usage: tpsl names [-h] [LIBRARY]

Makes what tpslcc links programs with fit an MPI library: a program links with
the functions that this library has, and with no others. Functions that are
newer than this tpsl are among them. Run it again when another MPI library is
installed. It takes a C compiler, and the right to write where tpsl is
installed.

  LIBRARY  an MPI library with the MPICH ABI or with the standard ABI: a file,
           or a name that ld.so finds. Without: the one of each ABI that
           programs run on
  -h       this text

Environment:
  CC       the C compiler

The exit status is 0, or 1 if something cannot be made. 255: wrong usage.
`

// exitUsage is the exit status of wrong usage, as mpiexec's.
const exitUsage = 255

// Command runs "tpsl names" and returns its exit status.
func Command(args []string, out, errOut io.Writer) int {
	set := flags.New("names")
	err := flags.Parse(set, args)
	if err == nil && set.NArg() > 1 {
		err = fmt.Errorf("want at most one LIBRARY, have %d", set.NArg())
	}
	switch {
	case errors.Is(err, flags.ErrHelp):
		fmt.Fprint(out, Usage)
		return 0
	case err != nil:
		fmt.Fprintf(errOut, "tpsl names: %v; try tpsl names -h\n", err)
		return exitUsage
	}
	if err := run(set.Arg(0), out); err != nil {
		fmt.Fprintln(errOut, "tpsl names:", err)
		return 1
	}
	return 0
}

func run(asked string, out io.Writer) error {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return err
	}
	prefix := filepath.Dir(filepath.Dir(self))
	libraries := search.New(os.Getenv("LD_LIBRARY_PATH"))
	if asked != "" {
		path, abi, err := mpiLibrary(asked, libraries)
		if err != nil {
			return err
		}
		return fit(prefix, abi, path, out)
	}
	for _, abi := range []mpilib.ABI{mpilib.MPICH, mpilib.Standard} {
		path, err := mpilib.Find("", abi, nil, mpilib.Finder(libraries, nil))
		if err != nil {
			path = "" // none is installed
		}
		if err := fit(prefix, abi, path, out); err != nil {
			return err
		}
	}
	return nil
}

// mpiLibrary finds the library that was asked for.
func mpiLibrary(asked string, libraries *search.Path) (path string, abi mpilib.ABI, err error) {
	if _, err := os.Stat(asked); err == nil {
		asked, _ = filepath.Abs(asked) // a file of the working directory
	}
	if path, err = mpilib.Finder(libraries, nil)(asked); err != nil {
		return "", "", err
	}
	library, err := mpilib.Of(path, libraries)
	if library.ABI != "" && library.ABI != mpilib.MPICH && library.ABI != mpilib.Standard {
		return "", "", fmt.Errorf("%s is %s; name a library with the MPICH ABI or with the standard ABI", path, library.ABI)
	}
	return path, library.ABI, err
}

// fit makes the files for one ABI, and says so.
func fit(prefix string, abi mpilib.ABI, library string, out io.Writer) error {
	o, err := offerOf(prefix, library)
	if err != nil {
		return err
	}
	if err := write(prefix, abi, o); err != nil {
		return err
	}
	switch {
	case library == "":
		fmt.Fprintf(out, "%s: no library is installed; programs link with all names of libtpsl\n", abi)
	default:
		fmt.Fprintf(out, "%s: %s; of libtpsl's names it lacks %d, and it has %d functions more\n", abi, library, o.lacks, len(o.unlisted))
	}
	return nil
}
