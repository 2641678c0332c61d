// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"strings"

	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/soname"
)

// judgeChosen judges the MPI library that ranks would run on.
func judgeChosen(f Facts) []Finding {
	if f.Chosen.Error != "" {
		what, remedy, _ := strings.Cut(f.Chosen.Error, "; ")
		return []Finding{{Error, "MPI library", what, "", remedy}}
	}
	for _, l := range f.Libraries {
		if l.Path == f.Chosen.Path && l.Error == "" {
			return judgeLibrary(l)
		}
	}
	return nil
}

// judgeArguments judges the files that the user asks about beside the one in use.
func judgeArguments(f Facts) (found []Finding) {
	for _, l := range f.Libraries {
		if l.By == byArgument && (l.Path == "" || l.Path != f.Chosen.Path) {
			found = append(found, judgeLibrary(l)...)
		}
	}
	return found
}

// judgeLibrary says what a program would meet that runs on a library.
func judgeLibrary(l Library) (found []Finding) {
	const other = "use a library with the MPICH ABI"
	switch {
	case l.Error != "":
		return []Finding{{Error, l.Wanted, l.Error, "", "name a file, or a library that ld.so finds"}}
	case l.ABI == mpilib.StandIn:
		return []Finding{{Error, l.Path, "a stand-in that leads back to libtpsl", "", other}}
	case l.ABI != mpilib.MPICH && l.ABI != mpilib.Standard:
		return []Finding{{Error, l.Path, string(l.ABI), "the MPICH ABI", other}}
	}
	for _, why := range l.Refused {
		found = append(found, Finding{Error, l.Path, "refused: " + why, "", "name another library in TPSL_MPI_LIBRARY"})
	}
	// The list is that of MPICH's ABI; the standard one has no names of Fortran and of MPICH's own.
	if n := len(l.Missing); n > 0 && l.ABI == mpilib.MPICH {
		found = append(found, Finding{Note, l.Path, fmt.Sprintf("lacks %s of libtpsl's list: %s", counted(n, "name"), few(l.Missing)), "",
			"a program gets an error only when it calls one"})
	}
	if n := len(l.Extra); n > 0 {
		found = append(found, Finding{Note, l.Path, fmt.Sprintf("has %s that libtpsl lacks: %s", counted(n, "MPI name"), few(l.Extra)), "",
			"programs that use them link after tpsl names, which makes stubs for them"})
	}
	return found
}

func judgePrivate(f Facts) []Finding {
	if f.Private.Error == "" {
		return nil
	}
	what, remedy, _ := strings.Cut(f.Private.Error, "; ")
	return []Finding{{Error, "placement of libraries", what, "", remedy}}
}

func judgeInstallation(f Facts) (found []Finding) {
	i := f.Installation
	switch {
	case i.LibtpslError != "":
		found = append(found, Finding{Error, soname.Libtpsl, i.LibtpslError, "", "install tpsl anew, and run its own bin/tpsl"})
	case i.LibtpslLacks > 0:
		found = append(found, Finding{Error, i.Libtpsl, fmt.Sprintf("lacks %s that tpsl %s knows", counted(i.LibtpslLacks, "name"), f.Version),
			"the same version", "install tpsl anew"})
	case i.LibtpslIs != f.Version:
		found = append(found, Finding{Error, i.Libtpsl, fmt.Sprintf("is of version %q, tpsl of %s", i.LibtpslIs, f.Version),
			"the same version", "install tpsl anew"})
	}
	for _, line := range i.Unmet {
		file, need, _ := strings.Cut(line, ": ")
		found = append(found, Finding{Error, file, need + ", which this machine's lacks", "", "build tpsl on this machine, or on one whose libraries are not newer"})
	}
	switch {
	case i.Mpiexec == "":
		found = append(found, Finding{Warning, "PATH", "has no mpiexec", i.Prefix + "/bin", "add it to PATH"})
	case i.MpiexecKind != kindOurs:
		found = append(found, Finding{Warning, "PATH", fmt.Sprintf("mpiexec is %s (%s)", i.Mpiexec, i.MpiexecKind),
			i.Prefix + "/bin/mpiexec for -rpp", "put that folder first in PATH, or call it by its path"})
	}
	if i.Tpslcc != "" && !i.TpslccIsThis {
		found = append(found, Finding{Warning, "PATH", "tpslcc is " + i.Tpslcc + ", of another installation",
			i.Prefix + "/bin/tpslcc", "put that folder first in PATH"})
	}
	return found
}
