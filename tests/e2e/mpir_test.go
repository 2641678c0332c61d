// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A debugger that starts mpiexec finds the processes of all ranks, as the MPIR interface has it: by name, where C's types put
// them.
func TestMPIR(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "gdb")
	const ranks, size = 3, 24 // of MPIR_PROCDESC
	args := []string{"gdb", "-q", "-batch"}
	do := func(commands ...string) {
		for _, command := range append([]string{"set language c"}, commands...) { // gdb takes up Go at each stop
			args = append(args, "-ex", command)
		}
	}
	do("set debuginfod enabled off", "break MPIR_Breakpoint", "starti")
	do("set var *(int *)&MPIR_being_debugged = 1", "continue")
	do("print *(int *)&MPIR_proctable_size", "print *(int *)&MPIR_debug_state")
	for rank := range ranks {
		entry := fmt.Sprintf("(*(char **)&MPIR_proctable + %d)", rank*size)
		do(fmt.Sprintf(`printf "entry %d: %%s %%s %%d\n", *(char **)%s, *(char **)(%s + 8), *(int *)(%s + 16)`, rank, entry, entry, entry))
	}
	do("delete", "continue")
	args = append(args, "--args", built(t, "bin/mpiexec"), "-launcher", "fork", "-hosts", "a,b", "-n", fmt.Sprint(ranks), "sh", "-c", "echo rank $PMI_RANK $PMI_HOSTNAME sh $$; sleep 1")
	out := run(t, nil, args...).stdout
	assert.Contains(t, out, "$1 = 3\n$2 = 1\n")
	for rank := range ranks {
		seen := regexp.MustCompile(fmt.Sprintf(`entry %d: (.*)\n`, rank)).FindStringSubmatch(out)
		require.NotNil(t, seen, out)
		assert.Contains(t, out, fmt.Sprintf("rank %d %s\n", rank, seen[1]))
	}
}
