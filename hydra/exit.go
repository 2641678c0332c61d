// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
)

// ExitLauncher is the exit code of everything that is not the program's doing.
const ExitLauncher = 255

// exitPipe is the exit code of a program that SIGPIPE ended, as shells show it.
const exitPipe = 128 + int(unix.SIGPIPE)

// An Outcome is how a job ended. The first failure decides the code; otherwise the codes of all ranks are or-ed.
type Outcome struct {
	Code  int
	Lines []string // to be shown on stderr after all output
	final bool
}

// decide sets the code that later exits do not change. It reports whether nothing had decided before.
func (o *Outcome) decide(code int) bool {
	if o.final {
		return false
	}
	o.Code, o.final = code, true
	return true
}

// fail records a failure of the launch itself.
func (o *Outcome) fail(text string) {
	if o.decide(ExitLauncher) {
		o.note(text)
	}
}

func (o *Outcome) note(text string) { o.Lines = append(o.Lines, "mpiexec: "+text) }

// unwritten records an error of writing standard output.
func (o *Outcome) unwritten(err error) {
	if !errors.Is(err, unix.EPIPE) {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err // the path is but Go's name of the stream
		}
		o.fail(fmt.Sprintf("write standard output: %v", err))
	} else if o.decide(exitPipe) {
		o.note("nobody reads standard output any more; ended the job")
	}
}

// An exitInfo is an Exit with the place it happened.
type exitInfo struct {
	channel.Exit
	set     RankSet
	program string
	host    string
}

func (e exitInfo) status() unix.WaitStatus { return unix.WaitStatus(e.Status) }

// who names the process in messages.
func (e exitInfo) who() string {
	if len(e.set.Ranks) > 1 {
		return fmt.Sprintf("ranks %s (one process, %s on %s)", e.set.Label(), e.program, e.host)
	}
	return fmt.Sprintf("rank %s (%s on %s)", e.set.Label(), e.program, e.host)
}

// aborted handles MPI_Abort.
func (j *Job) aborted(e event) {
	var abort channel.Abort
	if err := e.frame.Value(&abort); err != nil {
		j.garbled(e.link, err)
		return
	}
	j.log.Debug("abort", "rank", abort.Rank, "code", abort.Code, "text", abort.Text)
	j.outcome.decide(abort.Code & 255)
	j.end()
}

// exited handles the end of a set's process.
func (j *Job) exited(e event) {
	info := exitInfo{host: e.link.plan.Host}
	if err := e.frame.Value(&info.Exit); err != nil {
		j.garbled(e.link, err)
		return
	}
	info.set = e.link.plan.Sets[info.Set]
	if info.Rank >= 0 {
		info.set = info.set.Only(info.Rank)
	}
	info.program = e.link.plan.Programs[info.set.Program].Args[0]
	status := info.status()
	j.log.Debug("exited", "ranks", info.set.Label(), "status", info.Status, "unfinalized", info.Unfinalized)
	switch {
	case info.Ended:
	case info.Running:
		j.fault(1, info.who()+" closed its PMI connection without MPI_Finalize")
	case status.Signaled():
		j.crashed(info)
	case len(info.Unfinalized) > 0:
		j.fault(status.ExitStatus(), fmt.Sprintf("%s exited with status %d without MPI_Finalize of rank %s",
			info.who(), status.ExitStatus(), rankList(info.Unfinalized)))
	default:
		if !j.outcome.final {
			j.outcome.Code |= status.ExitStatus()
		}
		if !info.Initialized {
			j.idle = append(j.idle, info)
			j.endIfStuck()
		}
	}
}

// fault ends the job because of one process.
func (j *Job) fault(code int, text string) {
	if j.outcome.decide(j.outcome.Code | code) {
		j.outcome.note(text)
	}
	j.end()
}

func (j *Job) crashed(info exitInfo) {
	code := int(info.status().Signal())
	if info.status().CoreDump() {
		code |= 0x80 // as in the wait status
	}
	if j.outcome.decide(code) {
		j.outcome.Lines = append(j.outcome.Lines, banner(info, code)...)
	}
	j.end()
}

// endIfStuck ends the job when one process is gone without MPI_Init while another waits for it in a barrier.
func (j *Job) endIfStuck() {
	if !j.pmiUsed || len(j.idle) == 0 {
		return
	}
	first := j.idle[0]
	code := first.status().ExitStatus()
	if code == 0 {
		code = ExitLauncher
	}
	j.fault(code, fmt.Sprintf("%s exited with status %d without MPI_Init, which others wait for",
		first.who(), first.status().ExitStatus()))
}
