// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/executable"
	"github.com/tpsl/tpsl/internal/installation"
	"github.com/tpsl/tpsl/pmi"
)

// A Request is what the members of a set are asked to run together.
type Request struct {
	PerProcess int
	Mode       plan.Mode
	Args       []string      // program and its arguments
	Dir        string        // where it runs
	Environ    []string      // the environment; that of the leader is used
	Wait       time.Duration // how long members wait for one another
}

// digest is the same for two requests that can share a process. It does not contain the environment, because launchers give each
// rank variables of its own.
func (r Request) digest() [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%d %q %q %q", r.PerProcess, r.Mode, r.Args, r.Dir))
}

// command shows the request in messages, cut to a readable length.
func (r Request) command() string {
	const most = 200
	text := fmt.Sprintf("-rpp %d %s", r.PerProcess, strings.Join(r.Args, " "))
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

// Run runs the member's part of its set and returns how the rank ended. With an error, a status says that the rank was killed with its set,
// which the launcher cannot see.
func (m *Member) Run(r Request) (unix.WaitStatus, error) {
	// The launcher's death ends the rank. The setting belongs to this thread, so the thread must not end (prctl(2)).
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return 0, fmt.Errorf("rank %d: ask for an end with the launcher: %w", m.Rank, err)
	}
	run := m.donate
	if m.local == m.first(r.PerProcess) {
		run = m.lead
	}
	status, err := run(r)
	if err != nil {
		return status, fmt.Errorf("rank %d: %w", m.Rank, err)
	}
	return status, nil
}

// Abort makes the launcher end the job. Otherwise the other ranks would wait for this one. It tries for as long as launchers may
// take to answer. The other members of a leader's set end first, with an exit code of their own: an abort kills who is still there, and
// then the launcher would have nothing but a signal to report.
//
// Preconditions: the user has been told why.
func (m *Member) Abort(code int) {
	over, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, p := range m.parts {
		if p != nil {
			p.tell(failed)
		}
	}
	for _, p := range m.parts {
		if p != nil {
			p.awaitEnd(over)
			p.drop()
		}
	}
	if m.servedByPMIx() {
		abortByPMIx(over, code)
		return
	}
	go func() {
		defer cancel()
		if client := pmi.NewClient(os.NewFile(uintptr(m.session), "PMI session")); client.Init() == nil {
			_ = client.Abort(code) // there is nobody to tell
		}
	}()
	<-over.Done()
}

// abortByPMIx aborts the job as the rank that the environment names. It does nothing where tpsl was built without libpmix.
func abortByPMIx(over context.Context, code int) {
	helper, err := installation.File(executable.PMIxHelper)
	if err != nil {
		return
	}
	_ = exec.CommandContext(over, helper, "abort", strconv.Itoa(code)).Run() // there is nobody to tell
}
