// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"slices"
	"strings"
)

// Prefix is how the name of each variable begins.
const Prefix = "TPSL_"

// Names are the variables that a user sets, and those that a launcher sets for the processes of a job.
var Names = []string{
	"TPSL_ALIKE", "TPSL_BANNER", "TPSL_BOARD_FD", "TPSL_CARRIER", "TPSL_CC", "TPSL_CHECK", "TPSL_COLLECTIVES", "TPSL_CONNECTIONS", "TPSL_CONTROL_FD", "TPSL_COUNTS", "TPSL_CPUS", "TPSL_CXX", "TPSL_ENV", "TPSL_FC", "TPSL_INIT_TIMEOUT",
	"TPSL_MPI_INCLUDE", "TPSL_MPI_LIBRARY", "TPSL_POLICY", "TPSL_PRIVATE", "TPSL_PROFILE", "TPSL_PROGRESS", "TPSL_PROGRESS_REPORT", "TPSL_PYTHON", "TPSL_RAILS", "TPSL_RANKS", "TPSL_RDMA_PORT", "TPSL_RDMA_RAILS", "TPSL_SILENCE", "TPSL_STATE", "TPSL_STDIO", "TPSL_TEXT",
	"TPSL_TOOLS", "TPSL_VERIFY", "TPSL_WINDOWS", "TPSL_YIELD",
}

// ofTests is how the names of variables begin that only this project's own tests read.
const ofTests = Prefix + "TEST_"

// Unknown reports whether a name begins with Prefix and nothing reads it.
func Unknown(name string) bool {
	return strings.HasPrefix(name, Prefix) && !strings.HasPrefix(name, ofTests) && !slices.Contains(Names, name)
}
