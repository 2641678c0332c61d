// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/installation"
)

// witness is the library that tells when a rank has initialised MPI (hydra/witness/witness.c).
const witness = "libtpslwitness.so"

// addWitness makes a rank tell when it has initialised MPI, if its MPI library does not seem to speak PMI, or it is Python, which does not
// tell beforehand what it opens. Below the witness what notes calls would not find what Python opens.
func (p *proxy) addWitness(s *start) {
	file, err := installation.File(witness)
	library := s.exe.Library
	switch {
	case library.Path == "" && (!s.exe.Opens || p.board != nil) || library.SpeaksPMI || s.exe.PMIx || p.port != nil || p.host.World.Size == 1:
	case len(s.set.Ranks) > 1 || s.exe.IsPrivate() || s.exe.HasStandIn() || len(p.host.Tools) > 0:
	case err != nil || strings.ContainsAny(file, " :;"):
	default:
		s.layout.Control = true
		settings := s.layout.Settings()
		s.own, s.env = append(s.own, settings...), plan.SetEnv(s.env, settings...)
		s.preload(file)
	}
}

// rankInitialized ends the job if a rank has initialised MPI without using PMI: such a rank takes itself for a job of one.
func (p *proxy) rankInitialized(proc *process, rank int) {
	if p.pmix != nil || p.host.World.Size == 1 {
		return // clients of PMIx are asked for; a job of one rank needs no launcher
	}
	p.mu.Lock()
	spoke := slices.Contains(proc.initialized, rank)
	p.mu.Unlock()
	if spoke {
		return
	}
	program := p.host.Programs[proc.set.Program]
	library, remedy := "its MPI library", "build the program with MPICH, or start it by the launcher of that library"
	if proc.library != "" {
		library += " (" + proc.library + ")"
	}
	switch {
	case p.host.PMI.Version != "":
		remedy = fmt.Sprintf("leave -pmi %s out, %s", p.host.PMI.Version, remedy)
	case proc.library == "":
		remedy = "give -pmi x if that is Open MPI, " + remedy // the program has opened it by itself, as Python does
	}
	p.conn.Send(channel.Failed, proc.set.Program+1, fmt.Appendf(nil, "%s on %s: %s does not speak the PMI of mpiexec, so each rank began a job of its own; %s",
		program.Args[0], p.host.Name, library, remedy))
}
