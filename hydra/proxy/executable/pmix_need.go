// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/installation"
	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/soname"
)

// PMIxHelper is the program that serves PMIx (hydra/pmix). It is installed if tpsl was built with libpmix.
const PMIxHelper = "pmix"

// needsPMIx says why a program's ranks are served by PMIx; "" if they are not. Those of Open MPI need it: without it each would be
// a job of one.
func needsPMIx(host plan.Host, library Library) (why string) {
	switch host.PMI.Version {
	case "1", "2":
		return ""
	case "x":
		return "-pmi x wants PMIx"
	}
	switch {
	case slices.Contains(soname.OpenMPI, library.Name):
		return fmt.Sprintf("it is linked with Open MPI (%s), which needs PMIx", library.Name)
	case library.protocol == mpilib.PMIx:
		return fmt.Sprintf("its MPI library %s needs PMIx", library.Path)
	}
	return ""
}

// canServePMIx returns an error if ranks that need PMIx cannot be served. why says why they need it.
func canServePMIx(host plan.Host, why string) error {
	_, missing := installation.File(PMIxHelper)
	switch {
	case missing != nil:
		return fmt.Errorf("%s, and this tpsl was built without lib/tpsl/pmix, which serves it; install libpmix-dev and build tpsl anew, build the program "+
			"with MPICH, start it by Open MPI's own mpirun, or give -pmi 2 if its MPI library speaks that", why)
	case host.PMI.Port:
		return fmt.Errorf("%s, and that has a port of its own; leave -pmi-port out", why)
	}
	return nil
}

// isAlone reports whether a job of Open MPI has one rank, which needs no server.
func isAlone(host plan.Host) bool {
	return host.PMI.Version != "x" && host.World.Size == 1 && host.Group == 0
}

// servePMIx decides whether PMIx serves the ranks. An error says why those that need it cannot be served.
func (e *Executable) servePMIx(host plan.Host) error {
	why := needsPMIx(host, e.Library)
	if host.PMI.Launcher != "" {
		return e.checkLauncher(host, why)
	}
	if why == "" {
		return nil
	}
	err := canServePMIx(host, why)
	if err != nil && isAlone(host) {
		return nil
	}
	e.PMIx = err == nil
	return err
}

// checkLauncher checks that the ranks speak what another launcher serves. why says why they need PMIx; "" if they do not.
func (e *Executable) checkLauncher(host plan.Host, why string) error {
	e.PMIx = host.PMI.Launcher == "PMIx"
	switch {
	case !e.PMIx && why != "" && !isAlone(host):
		return fmt.Errorf("%s, and the launcher offers PMI; start with srun --mpi=pmix or tpsl's mpiexec", why)
	case e.PMIx && why == "" && e.Library.SpeaksPMI && e.Library.protocol != mpilib.PMIx:
		return fmt.Errorf("its MPI library (%s) speaks PMI, and the launcher PMIx; start with srun --mpi=pmi2 or tpsl's mpiexec",
			cmp.Or(e.Library.Path, e.Library.Name))
	}
	return nil
}

// refuseThreads returns an error if thread ranks would have to be clients of PMIx, unless the library that
// libtpsl loads speaks it. Thread ranks cannot use Open MPI's own ABI.
func (e *Executable) refuseThreads(host plan.Host, program plan.Program) error {
	why := needsPMIx(host, e.Library)
	if why == "" || !e.PMIx || e.IsPrivate() || program.PerProcess == 1 && program.Mode != plan.ModeShared || e.Library.protocol == mpilib.PMIx {
		return nil
	}
	if isAlone(host) {
		e.PMIx = false
		return nil
	}
	return fmt.Errorf("%s, and thread ranks of this MPI library cannot use that; leave -tpsl shared out, or use -rpp 1", why)
}
