// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fno-strict-aliasing -fexceptions -I${SRCDIR}/../loader -I${SRCDIR}/../process -I${SRCDIR}/../endpoints -I${SRCDIR}/../include
#include <stdlib.h>
#include "dispatch.h"
*/
import "C"

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"sync"
	"unsafe"

	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/process/rankset"
)

// checkProtocol refuses a library whose ranks would not find each other, as each would be a job of one. Most libraries of
// MPICH's ABI know PMI.
func checkProtocol(set *rankset.Set, path string, abi mpilib.ABI) error {
	if set.PMIx {
		return checkPMIx(set, path, abi)
	}
	if len(set.PMI) == 0 || set.Size == 1 || abi != mpilib.Standard && !mpilib.MaySpeakPMIx(path) {
		return nil
	}
	library, err := mpilib.Of(path, loader.SearchPath())
	if err != nil || library.Protocol != mpilib.PMIx {
		return err
	}
	if set.Own != "" {
		return fmt.Errorf("%s speaks PMIx (%s), and a job without mpiexec serves PMI to its ranks: start the program with mpiexec, or name a library that speaks PMI in TPSL_MPI_LIBRARY",
			path, library.Implementation)
	}
	return fmt.Errorf("%s speaks PMIx (%s), and the launcher serves PMI to its ranks: each would be a job of one; give the program itself to mpiexec, without -pmi, or name a library that speaks PMI in TPSL_MPI_LIBRARY",
		path, library.Implementation)
}

// checkPMIx does so where the launcher serves PMIx. A task that is alone needs no launcher, whatever that serves.
func checkPMIx(set *rankset.Set, path string, abi mpilib.ABI) error {
	number := func(name string) int { n, _ := strconv.Atoi(getenv(name)); return n }
	tasks := cmp.Or(number("OMPI_COMM_WORLD_SIZE"), number("SLURM_STEP_NUM_TASKS"))
	if len(set.Ranks) == 1 && tasks < 2 || mpilib.MaySpeakPMIx(path) {
		return nil
	}
	if abi == mpilib.Standard {
		if library, err := mpilib.Of(path, loader.SearchPath()); err != nil || library.Protocol != mpilib.PMI {
			return err
		}
	}
	return fmt.Errorf("%s speaks PMI, and the launcher serves PMIx to its ranks: each would be a job of one; start with srun --mpi=pmi2 or tpsl's mpiexec", path)
}

// tpslStandardVersion tells the version of the MPI standard that the MPI library has, from its file. It returns an error's
// line from malloc, nil for none.
//
//export tpslStandardVersion
func tpslStandardVersion(version, subversion *C.int) *C.char {
	path, _, err := findLibrary()
	if err != nil {
		return C.CString(err.Error())
	}
	major, minor, err := mpilib.StandardVersion(path)
	if err != nil {
		return C.CString(err.Error())
	}
	*version, *subversion = C.int(major), C.int(minor)
	return nil
}

// findsLibraries guards what stands in libraries since the first claim.
var findsLibraries sync.Mutex

// findLibraryOf fills in which MPI library the ranks of a set have, if that is not known yet, and refuses one that cannot serve them.
func findLibraryOf(set *rankset.Set, l *C.struct_tpsl_libraries) error {
	findsLibraries.Lock()
	defer findsLibraries.Unlock()
	if l.mpi == nil {
		path, abi, err := findLibrary()
		if err != nil {
			return err
		}
		l.mpi, l.standard = C.CString(path), abi == mpilib.Standard
	}
	abi := mpilib.MPICH
	if l.standard {
		abi = mpilib.Standard
	}
	return checkProtocol(set, C.GoString(l.mpi), abi)
}

// linked tells whether the process is linked with an MPI library of this name, or with its stand-in.
func linked(soname string) bool {
	c := C.CString(soname)
	defer C.free(unsafe.Pointer(c))
	return bool(C.tpsl_linked(c))
}

// refuseOtherMPI refuses a process whose own calls of MPI lead to a library that ld.so has loaded.
func refuseOtherMPI() error {
	for _, name := range soname.Flat {
		c := C.CString(name)
		file := C.tpsl_other_mpi(c)
		C.free(unsafe.Pointer(c))
		if file != nil {
			return fmt.Errorf("TPSL_Run: the program has loaded %s itself, where its calls of MPI go in place of the ranks: link it by tpslcc, or load lib/tpsl/%s first", C.GoString(file), name)
		}
	}
	return nil
}

// findLibrary returns the file of the MPI library, and the ABI that the program was built for.
func findLibrary() (path string, abi mpilib.ABI, err error) {
	if abi, err = mpilib.Wanted(linked); err != nil {
		return "", abi, fmt.Errorf("the program is %w", err)
	}
	var needed []string
	program, err := image.Open("/proc/self/exe")
	if err == nil {
		defer program.Close()
		needed = program.Needed
		program.Path, err = os.Executable() // for $ORIGIN
	}
	if err != nil {
		program = nil // its own search path is unknown then
	}
	path, err = mpilib.Find(getenv("TPSL_MPI_LIBRARY"), abi, needed, mpilib.Finder(loader.SearchPath(), program))
	return path, abi, err
}
