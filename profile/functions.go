// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"strings"

	"github.com/tpsl/tpsl/calls"
)

// isCollective reports whether a function is a collective operation, or starts or prepares one.
func isCollective(function string) bool {
	name, large := strings.CutSuffix(function, "_c")
	name = strings.TrimSuffix(name, "_init")
	if rest, starts := strings.CutPrefix(name, "MPI_I"); starts && rest != "" {
		name = "MPI_" + strings.ToUpper(rest[:1]) + rest[1:]
	}
	if large {
		name += "_c"
	}
	return calls.IsCollective(name)
}

// mayWait reports whether a call may wait for other ranks. Of calls that did not fit into the table nothing is known.
func mayWait(function string) bool { return function == "" || calls.MayWait(function) }

// moved says what the bytes of a call are; "" where there is no single word for it.
func moved(function string) string {
	name := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(function, "MPI_"), "_c"))
	switch {
	case isCollective(function):
		return "given"
	case strings.HasPrefix(name, "sendrecv"), strings.HasPrefix(name, "isendrecv"):
		return ""
	case strings.HasSuffix(strings.TrimSuffix(name, "_init"), "send"):
		return "sent"
	case strings.HasSuffix(name, "recv"), strings.HasPrefix(name, "wait"), strings.HasPrefix(name, "test"):
		return "received"
	}
	return ""
}

// isPolling reports whether a function asks whether something has happened.
func isPolling(function string) bool {
	switch function {
	case "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status":
		return true
	}
	return false
}

// isStartOrEnd reports whether a rank calls a function once, when it begins or ends.
func isStartOrEnd(function string) bool {
	switch function {
	case "MPI_Init", "MPI_Init_thread", "MPI_Finalize":
		return true
	}
	return false
}
