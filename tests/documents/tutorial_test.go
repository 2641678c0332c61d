// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const tutorial, tutorialPrograms = "docs/tutorial.md", "examples/tutorial"

// tutorialNeeds are the tools that the tutorial's commands use.
var tutorialNeeds = []string{"mpicc.mpich", "mpif90.mpich", "gdb"}

// programsIn copies the tutorial's programs into a new folder.
func programsIn(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join(testsupport.Root(t), tutorialPrograms))))
	return folder
}

// Every command of the tutorial works, in the order of the page, and prints what the page says.
func TestTutorial(t *testing.T) {
	testsupport.Require(t, tutorialNeeds...)
	testsupport.NothingLeft(t)
	folder := programsIn(t)
	steps := map[string]bool{}
	for n, b := range blocks(read(t, tutorial)) {
		if b.mark != "run" {
			continue
		}
		steps[b.heading] = true
		ran := t.Run(fmt.Sprintf("%s, block %d", b.heading, n), func(t *testing.T) {
			commands, output := session(b.lines)
			printed, stderr := shell(t, folder, commands)
			assert.Regexp(t, pattern(output), printed, "%s%s", commands, stderr)
		})
		require.True(t, ran, "later steps use what this one builds")
	}
	assert.Len(t, steps, 12, "each step has commands")
}

var answer = regexp.MustCompile(`(?m)^jacobi: .*$`)

// All steps of the tutorial say the same answer.
func TestTutorialHasOneAnswer(t *testing.T) {
	answers := answer.FindAllString(read(t, tutorial), -1)
	require.Greater(t, len(answers), 10)
	for _, a := range answers {
		assert.Equal(t, answers[0], a)
	}
}

// What the tutorial quotes stands so in the programs, and every program is used.
func TestTutorialQuotesItsPrograms(t *testing.T) {
	text := read(t, tutorial)
	quotes := 0
	for _, b := range blocks(text) {
		file, quoted := strings.CutPrefix(b.mark, "quote ")
		if !quoted {
			assert.Equal(t, "run", b.mark, "under %q: a block is a quotation of a file, or it is run", b.heading)
			continue
		}
		quotes++
		assert.Contains(t, read(t, file), strings.Join(b.lines, "\n")+"\n", "under %q: this is not in %s", b.heading, file)
	}
	assert.Greater(t, quotes, 5)
	programs, err := os.ReadDir(filepath.Join(testsupport.Root(t), tutorialPrograms))
	require.NoError(t, err)
	for _, p := range programs {
		assert.Contains(t, text, " "+p.Name()+" -o ", "the tutorial does not build it")
	}
}

// From step 4 on the programs give the answer in every layout, and those in C as ordinary MPI programs too.
func TestTutorialLayouts(t *testing.T) {
	testsupport.Require(t, tutorialNeeds...)
	testsupport.NothingLeft(t)
	want := answer.FindString(read(t, tutorial)) + "\n"
	folder := programsIn(t)
	for _, program := range []string{"04-slots", "05-halo", "06-shared"} {
		for suffix, compilers := range map[string][]string{".c": {"tpslcc", "mpicc.mpich"}, ".f90": {"tpslfort"}} {
			for _, compiler := range compilers {
				t.Run(compiler+" "+program+suffix, func(t *testing.T) {
					built := "./" + program + "-" + compiler
					shell(t, folder, fmt.Sprintf("%s -fopenmp -O2 %s%s -o %s -lm", compiler, program, suffix, built))
					layouts := []string{"-n 1", "-n 2 -rpp 2", "-n 5 -rpp 3", "-n 3 -rpp 1"}
					if compiler == "mpicc.mpich" {
						layouts = []string{"-n 1", "-n 3"}
					}
					for _, layout := range layouts {
						printed, stderr := shell(t, folder, "mpiexec "+layout+" "+built)
						assert.Equal(t, want, printed, "%s: %s", layout, stderr)
					}
				})
			}
		}
	}
}
