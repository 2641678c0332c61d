// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// offered returns what a shell offers at the end of a line, sorted.
func offered(t *testing.T, shell, line string) []string {
	t.Helper()
	testsupport.Require(t, shell)
	root := testsupport.Build(t)
	argv := []string{"bash", "testdata/complete.bash", root + "/share/bash-completion/completions"}
	argv = append(argv, strings.Split(line, " ")...)
	if shell == "zsh" {
		argv = []string{"zsh", "-f", "testdata/complete.zsh", root + "/share/zsh/site-functions", line}
	}
	words := strings.Fields(run(t, []string{"PATH=" + root + "/bin:" + os.Getenv("PATH")}, argv...))
	slices.Sort(words)
	return slices.Compact(words)
}

func TestEveryOptionIsOffered(t *testing.T) {
	testsupport.NothingLeft(t)
	bin := testsupport.Build(t) + "/bin/"
	for _, command := range []string{"mpiexec", "tpslcc", "tpslcxx", "tpslfort"} {
		arguments := []string{bin + command, "-help"}
		if command == "mpiexec" {
			arguments = append(arguments, "all")
		}
		help := run(t, nil, arguments...)
		listed := found(`(-[a-z][a-z_-]*)`, strings.Join(found(`^  (-.*?)(?:  |$)`, help), "\n"))
		assert.Greater(t, len(listed), 4, help)
		for _, shell := range []string{"bash", "zsh"} {
			words := offered(t, shell, command+" -")
			for i := range words {
				words[i] = strings.TrimSuffix(words[i], "=")
			}
			assert.Equal(t, listed, words, "%s in %s", command, shell)
		}
	}
}

func TestCompletion(t *testing.T) {
	testsupport.NothingLeft(t)
	t.Setenv("TPSL_TEST_ONE", "1")
	for _, c := range []struct {
		line string
		want []string
	}{
		{"mpiexec -n 4 -ranks", []string{"-ranks-per-process"}},
		{"mpiexec -rpp n", []string{"node", "numa"}},
		{"mpiexec -launcher s", []string{"sge", "slurm", "ssh"}},
		{"mpiexec -hosts a:2 -silent", []string{"-silent-abort"}},
		{"mpiexec -f testdata/cm", []string{"cmake"}},
		{"mpiexec -n 2 -prof", []string{"-profile"}},
		{"mpiexec -profile testdata/cm", []string{"cmake"}},
		{"mpiexec -tpsl ", []string{"auto", "private", "shared"}},
		{"mpiexec -n 2 -bind-to c", []string{"core"}},
		{"mpiexec -env TPSL_TEST_ONE", []string{"TPSL_TEST_ONE"}},
		{"mpiexec -genv TPSL_TEST_ONE 1 -ti", []string{"-timeout"}},
		{"mpiexec -wdir testdata/cm", []string{"cmake"}},
		{"tpsl doc", []string{"doctor"}},
		{"tpsl doctor -j", []string{"-json"}},
		{"tpsl ch", []string{"check"}},
		{"tpsl check -j", []string{"-json"}},
		{"tpsl mem -", []string{"-by", "-flat", "-json", "-proof"}},
		{"tpsl py", []string{"python"}},
		{"tpsl python -", []string{"-n", "-pmi"}},
		{"tpsl rep", []string{"report"}},
		{"tpsl report -", []string{"-html"}},
		{"tpsl where -", []string{"-stacks"}},
		{"mpiexec -l tpslfor", []string{"tpslfort"}},
		{"mpiexec -n 2 ./testdata/cm", []string{"cmake"}},
	} {
		for _, shell := range []string{"bash", "zsh"} {
			t.Run(shell+": "+c.line, func(t *testing.T) {
				words := offered(t, shell, c.line)
				for i := range words {
					words[i] = filepath.Base(words[i])
				}
				assert.Equal(t, c.want, words)
			})
		}
	}
}

// What follows the program is the program's own, up to the next colon.
func TestProgramsArgumentsAreNotOurs(t *testing.T) {
	assert.Empty(t, offered(t, "bash", "mpiexec -n 2 ./prog -"))
	assert.NotContains(t, offered(t, "zsh", "mpiexec -n 2 ls -"), "-rpp")
	assert.Equal(t, []string{"-rpp"}, offered(t, "bash", "mpiexec -n 2 ./prog -x : -rp"))
}
