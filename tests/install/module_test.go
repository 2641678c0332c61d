// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The module file brings all of an installation in reach, wherever that is, and
// through a link in a site's own folder of modules; unloading takes it back.
func TestModule(t *testing.T) {
	testsupport.NothingLeft(t)
	const initialize = "/usr/share/modules/init/bash"
	if _, err := os.Stat(initialize); err != nil {
		testsupport.Require(t, "modulecmd") // says what CI must have
	}
	testsupport.Require(t, "man", "pkg-config")
	prefix, site := installed(t), t.TempDir()
	require.NoError(t, os.Symlink(prefix+"/share/modulefiles/tpsl", site+"/tpsl"))

	for _, folder := range []string{prefix + "/share/modulefiles", site} {
		script := `
. ` + initialize + `
unset MANPATH XDG_DATA_DIRS CMAKE_PREFIX_PATH PKG_CONFIG_PATH MPICC MPICXX MPIFC MPIF77
module use ` + folder + `
before=$PATH
module load tpsl
type -P mpiexec tpslcc
man -w tpslcc; echo $MANPATH
pkg-config --variable=includedir tpsl
echo $CMAKE_PREFIX_PATH $XDG_DATA_DIRS
echo $MPICC $MPICXX $MPIFC $MPIF77
module unload tpsl
[[ $PATH == $before ]] && echo "$MANPATH $PKG_CONFIG_PATH $CMAKE_PREFIX_PATH$MPICC$MPICXX$MPIFC$MPIF77"
module whatis tpsl 2>&1 | grep -c 'tpsl ` + makeVersion(t) + `: '
`
		lines := strings.Split(run(t, []string{"LC_ALL=C.UTF-8"}, "bash", "-c", script), "\n")
		require.Len(t, lines, 10, lines)
		assert.Equal(t, []string{
			prefix + "/bin/mpiexec",
			prefix + "/bin/tpslcc",
			prefix + "/share/man/man1/tpslcc.1",
			prefix + "/share/man:", // and what is searched without the variable
			prefix + "/lib/pkgconfig/../../include",
			prefix + " " + prefix + "/share:/usr/local/share:/usr/share",
			prefix + "/bin/tpslcc " + prefix + "/bin/tpslcxx " + prefix + "/bin/tpslfort " + prefix + "/bin/tpslfort",
			"  ",
			"1",
			"",
		}, lines)
	}
}

// Of another MPI's module and tpsl's only one can be loaded, since both have an mpiexec: the second one is refused.
func TestModuleConflicts(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "modulecmd")
	folder := installed(t) + "/share/modulefiles"
	for _, other := range []string{"mpich", "openmpi"} {
		writeFile(t, folder+"/"+other, "#%Module\n")
		for _, order := range [][]string{{other, "tpsl"}, {"tpsl", other}} {
			script := ". /usr/share/modules/init/bash; module use " + folder +
				"; for name; do module load $name; done; module -t list 2>&1"
			loaded, stderr, _ := testsupport.Run(t, limit, nil, append([]string{"bash", "-c", script, "bash"}, order...)...)
			assert.Equal(t, "Currently Loaded Modulefiles:\n"+order[0]+"\n", loaded)
			assert.Contains(t, stderr, "Loading "+order[1]+"\n  ERROR: Module cannot be loaded due to a conflict.\n")
		}
	}
}

// bash-completion finds the completion by the variable that the module sets.
func TestCompletionIsFound(t *testing.T) {
	testsupport.NothingLeft(t)
	const library = "/usr/share/bash-completion/bash_completion"
	if _, err := os.Stat(library); err != nil {
		testsupport.Require(t, filepath.Base(library))
	}
	prefix := installed(t)
	script := `. ` + library + `; _completion_loader mpiexec; complete -p mpiexec`
	said, _, _ := testsupport.Run(t, limit, []string{"XDG_DATA_DIRS=" + prefix + "/share"}, "bash", "--norc", "-ic", script)
	assert.Equal(t, "complete -o bashdefault -o default -F _tpsl mpiexec\n", said)
}
