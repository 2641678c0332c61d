// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"fmt"
	"slices"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/installation"
	"github.com/tpsl/tpsl/internal/soname"
)

// PMIxHelper is the program that serves PMIx (hydra/pmix). It is installed if tpsl was built with libpmix.
const PMIxHelper = "pmix"

// needsPMIx reports whether a program's ranks are served by PMIx. Those of Open MPI need it: without it each would be a job
// of one. An error says why they cannot be served.
func needsPMIx(host plan.Host, e Executable, program plan.Program) (bool, error) {
	switch host.PMI.Version {
	case "1", "2":
		return false, nil
	case "x":
		return true, canServePMIx(host, "-pmi x wants PMIx", e, program)
	}
	if !slices.Contains(soname.OpenMPI, e.Library.Name) {
		return false, nil
	}
	err := canServePMIx(host, fmt.Sprintf("it is linked with Open MPI (%s), which needs PMIx", e.Library.Name), e, program)
	if err != nil && host.World.Size == 1 && host.Group == 0 {
		return false, nil // a job of one rank needs no server
	}
	return err == nil, err
}

// canServePMIx returns an error if ranks that need PMIx cannot be served. why says why they need it.
func canServePMIx(host plan.Host, why string, e Executable, program plan.Program) error {
	_, missing := installation.File(PMIxHelper)
	switch {
	case missing != nil:
		return fmt.Errorf("%s, and this tpsl was built without lib/tpsl/pmix, which serves it; install libpmix-dev and build tpsl anew, build the program "+
			"with MPICH, start it by Open MPI's own mpirun, or give -pmi 2 if its MPI library speaks that", why)
	case !e.IsPrivate() && (program.PerProcess > 1 || program.Mode == plan.ModeShared):
		return fmt.Errorf("%s, and mpiexec does not serve that to thread ranks; leave -tpsl shared out, or use -rpp 1", why)
	case host.PMI.Port:
		return fmt.Errorf("%s, and that has a port of its own; leave -pmi-port out", why)
	}
	return nil
}
