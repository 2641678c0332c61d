// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/search"
)

// standardLibrary returns the MPI library of a program for the standard ABI. All libraries with this ABI go by one name, so the
// file that the name leads to tells which protocol the ranks speak. If there is no such file, or it cannot be judged, the protocol
// is unknown: the rank itself says what is wrong.
func standardLibrary(closure *search.Closure, libraries *search.Path, program plan.Program) Library {
	found := Library{Name: soname.StandardABI}
	behind := throughLibtpsl(closure, program)
	file := closure.Find(soname.StandardABI).Path
	if behind {
		// libtpsl refuses a library whose protocol is not served, so nobody need watch whether its ranks use PMI.
		found.SpeaksPMI = true
		var err error
		if file, err = chosenByLibtpsl(mpilib.Standard, closure, libraries, program); err != nil {
			return found
		}
	}
	found.Path = file
	if judged, err := mpilib.Of(file, libraries); err == nil {
		found.protocol = judged.Protocol
		found.SpeaksPMI = behind || judged.Protocol == mpilib.PMI
	}
	return found
}
