// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A release is the same bytes whoever makes it: the tarball of what is committed,
// and the Debian package built from it in any folder, without git, and installed.
func TestReleaseIsReproducible(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "git", "dpkg-deb", "objdump")
	name := "tpsl-" + makeVersion(t)
	tarball := "build/" + name + ".tar.gz"
	runMake(t, "dist")
	first := sha256.Sum256([]byte(readFile(t, tarball)))
	time.Sleep(1100 * time.Millisecond) // so that no time is the same by chance
	runMake(t, "dist")
	require.Equal(t, first, sha256.Sum256([]byte(readFile(t, tarball))), "two tarballs")

	noGit := t.TempDir()
	require.NoError(t, os.WriteFile(noGit+"/git", []byte("#!/bin/sh\necho no git >&2\nexit 127\n"), 0o755))
	var packages [2][32]byte
	t.Run("builds", func(t *testing.T) { // side by side, because a build uses one core for most of its time
		for i, umask := range []string{"022", "077"} {
			t.Run("umask "+umask, func(t *testing.T) {
				t.Parallel()
				testsupport.Limit(t, 10*time.Minute) // all is built, without a cache of what it takes
				folder := t.TempDir()
				script := "umask " + umask + "; tar xzf " + testsupport.Root(t) + "/" + tarball + " -C " + folder + "; cd " + folder + "/" + name + "; make -s install PREFIX=$PWD/prefix && make -s -o all deb"
				_, stderr, code := testsupport.Run(t, 10*time.Minute, []string{"PATH=" + noGit + ":" + os.Getenv("PATH")}, "bash", "-c", script)
				require.Zero(t, code, stderr)
				require.NotContains(t, stderr, "no git")
				made, err := filepath.Glob(folder + "/" + name + "/build/*.deb")
				require.NoError(t, err)
				require.Len(t, made, 1)
				content, err := os.ReadFile(made[0])
				require.NoError(t, err)
				packages[i] = sha256.Sum256(content)
			})
		}
	})
	require.NotEqual(t, [32]byte{}, packages[0])
	assert.Equal(t, packages[0], packages[1], "two packages")
}

// The package holds what make install puts in place, and little outside of its own
// folder: no command of another MPI package.
func TestDebHoldsWhatIsInstalled(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "dpkg-deb", "objdump")
	testsupport.Limit(t, 5*time.Minute) // one thread of xz compresses all binaries, without a word
	runMake(t, "deb")
	root := t.TempDir()
	run(t, nil, "dpkg-deb", "-x", testsupport.Root(t)+"/build/tpsl_"+makeVersion(t)+"_amd64.deb", root)

	own := func(line string) bool { return strings.HasPrefix(line, "/share/tpsl/placed ") }
	assert.Equal(t, slices.DeleteFunc(tree(t, installed(t)), own), tree(t, root+"/opt/tpsl"))
	require.NoError(t, os.RemoveAll(root+"/opt/tpsl"))
	assert.Equal(t, []string{
		" drwxr-xr-x ", "/opt drwxr-xr-x ", "/usr drwxr-xr-x ", "/usr/share drwxr-xr-x ",
		"/usr/share/doc drwxr-xr-x ", "/usr/share/doc/tpsl drwxr-xr-x ", "/usr/share/doc/tpsl/copyright -rw-r--r-- ",
		"/usr/share/modules drwxr-xr-x ", "/usr/share/modules/modulefiles drwxr-xr-x ",
		"/usr/share/modules/modulefiles/tpsl Lrwxrwxrwx /opt/tpsl/share/modulefiles/tpsl",
	}, tree(t, root))
}

// Every module that the go command says is in a binary has its licence told, and
// so has Go.
func TestNoticesAreComplete(t *testing.T) {
	build := testsupport.Build(t)
	notices := readFile(t, "share/doc/tpsl/THIRD_PARTY")
	assert.Contains(t, notices, "Copyright 2009 The Go Authors")
	modules := 0
	for _, binary := range []string{"bin/mpiexec", "bin/tpsl", "bin/tpslcc", "lib/libtpsl.so.0"} {
		for line := range strings.Lines(run(t, nil, "go", "version", "-m", build+"/"+binary)) {
			if f := strings.Fields(line); f[0] == "dep" {
				modules++
				assert.Contains(t, notices, "\n"+f[1]+" "+f[2]+"\n====", binary)
			}
		}
	}
	assert.Positive(t, modules)
	assert.NotContains(t, notices, "stretchr/testify") // only the tests have it
}
