// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// python builds an interpreter that private ranks can run, if Debian's modules are there.
func python(t *testing.T, modules ...string) string {
	t.Helper()
	testsupport.Require(t, "python3", "pkg-config")
	for _, module := range modules {
		if _, _, code := testsupport.Run(t, time.Minute, nil, "/usr/bin/python3", "-c", "import "+module); code != 0 {
			testsupport.Unable(t, "python3-%s is not installed", module)
		}
	}
	flags, _, code := testsupport.Run(t, time.Minute, nil, "pkg-config", "--libs", "python3-embed")
	if code != 0 {
		testsupport.Unable(t, "libpython3-dev is not installed")
	}
	return testsupport.CC(t, "gcc", "testdata/python.c", append([]string{"-pie", "-fPIE"}, strings.Fields(flags)...)...)
}

// Modules of Python open dozens of libraries that need one another: scipy, pandas and h5py
// compute in private ranks what they compute in flat ones.
func TestPrivateScience(t *testing.T) {
	testsupport.NothingLeft(t)
	program := python(t, "scipy", "pandas", "h5py")
	script, err := filepath.Abs("testdata/science.py")
	require.NoError(t, err)
	lines := flatAndPrivate(t, []string{"OMP_NUM_THREADS=2", "OPENBLAS_NUM_THREADS=2"}, "", program, script, t.TempDir())
	assert.Contains(t, strings.Join(lines, ""), "h5py 1 9900.0 1 ['numbers']\n")
}
