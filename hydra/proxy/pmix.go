// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/pmix"
)

// startPMIx starts the server of PMIx if the programs need one. Either all programs of a host need it or none does; mpiexec
// checks the same of the hosts.
func (p *proxy) startPMIx(starts []start) (err error) {
	served := func(s start) bool { return s.exe.PMIx }
	if !slices.ContainsFunc(starts, served) {
		return nil
	}
	if i := slices.IndexFunc(starts, func(s start) bool { return !served(s) }); i >= 0 {
		return fmt.Errorf("%s on %s is served by PMI, and others of this job by PMIx, as their MPI library wants it; start them as jobs of their own, or give -pmi x if its MPI library speaks PMIx, too",
			p.programs[starts[i].set.Program].Args[0], p.host.Name)
	}
	if p.pmix, err = pmix.Start(p.host, p.conn, p.up, p); err == nil {
		err = p.pmix.Await()
	}
	if err != nil {
		return fmt.Errorf("serve PMIx on %s: %w", p.host.Name, err)
	}
	for i, s := range starts {
		starts[i].servedByPMIx(p.pmix.Settings(s.set.Ranks, s.env)...)
	}
	return nil
}

// servedByPMIx replaces the variables of PMI with settings by which the ranks find a server of PMIx.
func (s *start) servedByPMIx(settings ...string) {
	s.own = append(slices.DeleteFunc(s.own, isPMI), settings...)
	s.env = plan.SetEnv(slices.DeleteFunc(s.env, isPMI), settings...)
}

// isPMI tells the variables of PMI, by which a rank would look for a server that it does not have.
func isPMI(setting string) bool { return strings.HasPrefix(setting, "PMI_") }

// Left implements pmix.Events: what waits for the session of a rank that connected by itself goes on.
func (p *proxy) Left(rank int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.processOf(rank).left[rank])
}

// Logged implements pmix.Events.
func (p *proxy) Logged(rank int, text []byte) {
	p.mu.Lock()
	from := p.processOf(rank).writer(rank)
	p.mu.Unlock()
	p.output.Show(from, channel.Stderr, text)
}

// Gone implements pmix.Events.
func (p *proxy) Gone(why error) {
	p.conn.Send(channel.Failed, 0, []byte(why.Error()))
	p.end()
}
