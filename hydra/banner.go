// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// banner reports a crash in Hydra's words, which scripts search for, with what Hydra leaves out.
func banner(info exitInfo, code int) []string {
	signal := info.status().Signal()
	text := signalText(signal)
	rule := strings.Repeat("=", 83)
	lines := []string{
		"",
		rule,
		"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
		fmt.Sprintf("=   PID %d RUNNING AT %s", info.PID, info.host),
		fmt.Sprintf("=   EXIT CODE: %d", code),
		"=   " + rankLine(info),
		"=   PROGRAM: " + info.program,
		fmt.Sprintf("=   SIGNAL: %s (%d)%s", unix.SignalName(signal), signal, coreText(info)),
		"=   CLEANING UP REMAINING PROCESSES",
		"=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES",
		rule,
		fmt.Sprintf("YOUR APPLICATION TERMINATED WITH THE EXIT STRING: %s (signal %d)", text, signal),
		"This typically refers to a problem with your application.",
		"Please see the FAQ page for debugging suggestions",
	}
	return lines
}

func rankLine(info exitInfo) string {
	switch {
	case len(info.set.Ranks) == 1:
		return "RANK: " + info.set.Label()
	case info.FaultRank >= 0:
		return fmt.Sprintf("RANKS: %s (one process); the fault was in rank %d", info.set.Label(), info.FaultRank)
	}
	return fmt.Sprintf("RANKS: %s (one process)", info.set.Label())
}

func coreText(info exitInfo) string {
	if info.status().CoreDump() {
		return ", core dumped"
	}
	return ", no core"
}

// signalText names a signal as strsignal(3) does, as far as Go's names differ from it.
func signalText(signal unix.Signal) string {
	text := signal.String()
	return strings.ToUpper(text[:1]) + text[1:]
}
