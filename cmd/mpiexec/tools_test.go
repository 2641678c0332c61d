// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// -gtool starts the ranks it names by a command, and the others without.
func TestTool(t *testing.T) {
	testsupport.NothingLeft(t)
	j, code := runJob(t, "-n", "4", "-gtool", "env TOOL='a b':1,3 ; env TOOL=c:0", "sh", "-c", `echo "$PMI_RANK $TOOL $0"`, "arg")
	assert.Zero(t, code, j.errOut.String())
	got := lines(j.out.String())
	slices.Sort(got)
	assert.Equal(t, []string{"0 c arg", "1 a b arg", "2  arg", "3 a b arg"}, got)

	j, code = runJob(t, "-n", "2", "-gtool", "nosuchtool -x:1", "echo", "started")
	assert.Equal(t, 255, code)
	assert.Regexp(t, `^mpiexec: option -gtool: cannot run nosuchtool on \S+: no such file or directory\n$`, j.errOut.String())
	assert.Empty(t, j.out.String())

	j, code = runJob(t, "-n", "2", "-gdb", "0,2", "true")
	assert.Equal(t, 255, code)
	assert.Equal(t, "mpiexec: option -gdb: there is no rank 2 among 2\n", j.errOut.String())
}

// A rank of a real MPI job under gdb, which gets standard input; the other rank runs as ever.
func TestDebugger(t *testing.T) {
	testsupport.Require(t, "gdb")
	testsupport.NothingLeft(t)
	script := strings.NewReader("set debuginfod enabled off\nbreak MPI_Finalize\nrun\ncontinue\nquit\n")
	j := launch(t, script, "mpiexec", "-n", "2", "-gdb", "1", probe(t))
	assert.Zero(t, j.end(t), j.errOut.String())
	out := j.out.String()
	assert.Contains(t, out, "Breakpoint 1, ")
	assert.Contains(t, out, "exited normally")
	assert.Equal(t, 2, strings.Count(out, " of 2, sum 1"), out)
}
