// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/pmi"
)

// pmixHelper is the program that serves PMIx (hydra/pmix/main.c says what it speaks). It is there if tpsl was built with libpmix.
const pmixHelper = "pmix"

// pmixLimit is how long the helper may take to start.
const pmixLimit = 10 * time.Second

// nativeLaunch makes Open MPI 4 look for a PMIx server at all: it takes its ranks for launched if there is a daemon, and is
// content with any well-formed address of one.
const nativeLaunch = "OMPI_MCA_orte_local_daemon_uri=1.0;tcp://127.0.0.1:1"

// A pmix is the running helper. A nil one serves nobody.
type pmix struct {
	folder string // private, of all files that libpmix and its clients make
	output *os.File
	lines  *bufio.Reader    // of output
	env    map[int][]string // by rank
	gone   map[int]bool     // the ranks that have finalized
	gather *pmi.Gather      // of the host's ranks
	said   *complaint
	closed atomic.Bool
	ended  chan struct{} // closed when the helper is not served any more
	shown  chan struct{} // closed when what ranks have logged is on its way; it changes until ended

	describing sync.Mutex
	described  []string // key-value spaces of the worlds that it knows

	mu    sync.Mutex // guards whole lines
	stdin *os.File
}

func newPMIx() *pmix {
	x := &pmix{env: map[int][]string{}, gone: map[int]bool{}, ended: make(chan struct{}), shown: make(chan struct{})}
	close(x.shown)
	return x
}

// startPMIx starts the helper where the programs need it. Those of one host all do, or none; mpiexec looks after the hosts.
func (p *proxy) startPMIx(starts []start) error {
	served := func(s start) bool { return s.way.pmix }
	if !slices.ContainsFunc(starts, served) {
		return nil
	}
	if i := slices.IndexFunc(starts, func(s start) bool { return !served(s) }); i >= 0 {
		return fmt.Errorf("%s on %s is not linked with Open MPI, but others of this job are; give -pmi x to serve it by PMIx, too",
			starts[i].args[0], p.host.Name)
	}
	err := p.forkPMIx()
	if err == nil {
		err = p.describePMIx(p.host.World.KVSName)
	}
	if err == nil {
		err = p.pmix.await()
	}
	if err != nil {
		return fmt.Errorf("serve PMIx on %s: %w", p.host.Name, err)
	}
	for i, s := range starts {
		settings := append(p.giveWay(s.env), p.pmix.env[s.set.Ranks[0]]...)
		starts[i].own = append(slices.DeleteFunc(s.own, isPMI), settings...)
		starts[i].env = plan.SetEnv(slices.DeleteFunc(s.env, isPMI), settings...)
	}
	return nil
}

// giveWay returns what makes Open MPI's ranks yield while they wait, as its own launcher has it, where there are more than CPUs.
func (p *proxy) giveWay(env []string) []string {
	const crowded = "OMPI_MCA_mpi_oversubscribe"
	cpus, err := AllowedCPUs()
	if _, set := plan.Getenv(env, crowded); set || err != nil || p.host.Ranks <= len(cpus) {
		return nil
	}
	return []string{crowded + "=1"}
}

func isPMI(setting string) bool { return strings.HasPrefix(setting, "PMI_") }

// forkPMIx starts the helper. It ends with its stdin, whatever becomes of us, and takes the folder with it.
func (p *proxy) forkPMIx() error {
	file, err := installed(pmixHelper)
	if err != nil {
		return err
	}
	helper := newPMIx()
	helper.folder = p.host.PMIxFolder()
	helper.gather = pmi.NewGather(p.host.World.Size, p.host.LocalRanks(), p.up)
	if err := os.Mkdir(helper.folder, 0o700); err != nil {
		return err
	}
	p.pmix = helper
	var pipes [3]struct{ ours, its *os.File }
	for i := range pipes {
		read, write, err := os.Pipe()
		if err != nil {
			return err
		}
		pipes[i].ours, pipes[i].its = read, write
		if i == 0 {
			pipes[i].ours, pipes[i].its = write, read
		}
		defer pipes[i].its.Close()
	}
	helper.stdin, helper.output = pipes[0].ours, pipes[1].ours
	helper.lines, helper.said = bufio.NewReader(helper.output), p.hear(pipes[2].ours)
	_ = helper.output.SetReadDeadline(time.Now().Add(pmixLimit)) // pipes have deadlines
	args := []string{file, p.host.World.KVSName, helper.folder, p.host.Name}
	_, err = syscall.ForkExec(file, args, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{pipes[0].its.Fd(), pipes[1].its.Fd(), pipes[2].its.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", file, err)
	}
	return nil
}

// describePMIx tells the helper which ranks of a world there are, once.
func (p *proxy) describePMIx(space string) error {
	p.pmix.describing.Lock()
	defer p.pmix.describing.Unlock()
	if slices.Contains(p.pmix.described, space) {
		return nil
	}
	var layout channel.Layout
	if err := p.up.askValue(channel.LayoutRequest, channel.Layout{Space: space}, &layout); err != nil {
		return err
	}
	if layout.Error != "" {
		return errors.New(layout.Error)
	}
	self := -1
	if space == p.host.World.KVSName {
		self = slices.Index(layout.Hosts, p.host.Name)
	}
	p.pmix.tell("job", space, len(layout.Programs), layout.Universe, self)
	for i, host := range layout.Hosts {
		p.pmix.tell("node", host, ranges.List(layout.Ranks[i]))
	}
	p.pmix.tell("apps", ranges.List(layout.Programs))
	p.pmix.tell("serve")
	p.pmix.described = append(p.pmix.described, space)
	return nil
}

// tell sends the helper a line of words. If it is gone, servePMIx finds out.
func (x *pmix) tell(words ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, _ = fmt.Fprintln(x.stdin, words...)
}
