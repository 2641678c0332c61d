// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// describe says how the set ended, as far as the launcher cannot see it. The launcher only sees how processes end, and several
// ranks share one process.
func (s *set) describe() error {
	who := "the process of ranks " + ranksOf(s.parts)
	switch {
	case s.lost >= 0:
		return fmt.Errorf("what the launcher started for rank %d was killed, so %s was ended", s.lost, who)
	case len(s.parts) > 1 && s.crash == 0 && s.status.Signaled():
		text := fmt.Sprintf("tpsl run: %s was ended by %s", who, unix.SignalName(s.status.Signal()))
		if s.fault >= 0 {
			text += fmt.Sprintf("; the fault was in rank %d", s.fault)
		}
		fmt.Fprintln(os.Stderr, text)
	}
	return nil
}

// EndAs ends this process as another one ended, but without a core.
func EndAs(status unix.WaitStatus) {
	if status.Signaled() {
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // the rank's own process has left the core that matters
		setDefaultAction(status.Signal())
		_ = unix.Kill(os.Getpid(), status.Signal())
		select {} // wait until the signal arrives
	}
	os.Exit(status.ExitStatus())
}
