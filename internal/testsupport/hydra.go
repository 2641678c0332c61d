// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Hydra returns the first words of a command of the real mpiexec.hydra, with a stdin that has nothing and does not end. Of a short
// job in which stdin ends, 4 in 100 on a busy machine end with nothing printed: mpiexec.hydra tells a proxy that has gone of
// the end of stdin, and dies of SIGPIPE.
func Hydra(t testing.TB) []string {
	t.Helper()
	Require(t, "mpiexec.hydra")
	stdin := filepath.Join(t.TempDir(), "stdin")
	if err := unix.Mkfifo(stdin, 0o600); err != nil {
		t.Fatalf("make %s: %v", stdin, err)
	}
	return []string{"sh", "-c", `exec mpiexec.hydra "$@" <>"$0"`, stdin}
}
