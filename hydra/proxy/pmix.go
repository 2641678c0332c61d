// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tpsl/tpsl/hydra"
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
	stdin  *os.File
	output *os.File
	lines  *bufio.Reader    // of output
	env    map[int][]string // by rank
	gone   map[int]bool     // the ranks that have finalized
	closed atomic.Bool
}

// startPMIx starts the helper where the programs need it. Those of one job all do, or none.
func (p *proxy) startPMIx(starts []start) error {
	served := func(s start) bool { return s.way.pmix }
	if !slices.ContainsFunc(starts, served) {
		return nil
	}
	if i := slices.IndexFunc(starts, func(s start) bool { return !served(s) }); i >= 0 {
		return fmt.Errorf("%s on %s is not linked with Open MPI, but others of this job are; give -pmi x to serve it by PMIx, too",
			starts[i].args[0], p.plan.Host)
	}
	helper, err := p.forkPMIx()
	if err == nil {
		p.pmix = helper
		err = helper.await()
	}
	if err != nil {
		return fmt.Errorf("serve PMIx on %s: %w", p.plan.Host, err)
	}
	for i, s := range starts {
		starts[i].own = append(slices.DeleteFunc(s.own, isPMI), p.pmix.env[s.set.Ranks[0]]...)
		starts[i].env = hydra.SetEnv(slices.DeleteFunc(s.env, isPMI), p.pmix.env[s.set.Ranks[0]]...)
	}
	return nil
}

func isPMI(setting string) bool { return strings.HasPrefix(setting, "PMI_") }

// forkPMIx starts the helper. It ends with its stdin, whatever becomes of us, and takes the folder with it.
func (p *proxy) forkPMIx() (helper *pmix, err error) {
	file, err := installed(pmixHelper)
	if err != nil {
		return nil, err
	}
	helper = &pmix{env: map[int][]string{}, gone: map[int]bool{}}
	helper.folder = p.plan.PMIxFolder()
	if err = os.Mkdir(helper.folder, 0o700); err != nil {
		return nil, err
	}
	read, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	lines, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	_ = lines.SetReadDeadline(time.Now().Add(pmixLimit)) // pipes have deadlines
	helper.stdin, helper.output, helper.lines = ours, lines, bufio.NewReader(lines)
	args := []string{file, p.plan.World.KVSName, helper.folder, strconv.Itoa(p.plan.World.Size)}
	_, err = syscall.ForkExec(file, args, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{read.Fd(), write.Fd(), 2},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	return helper, err
}
