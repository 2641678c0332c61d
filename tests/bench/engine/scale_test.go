// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// The sides print what they are to measure.
func TestScale(t *testing.T) {
	testsupport.NothingLeft(t)
	mpiexec := filepath.Join(testsupport.Build(t), "bin", "mpiexec")
	self, err := os.Executable()
	require.NoError(t, err)
	var found results.Set
	for _, side := range []string{"Exchange/processes=3", "Start/processes=3"} {
		out, errOut, code := testsupport.Run(t, time.Minute, nil, mpiexec, "-n", "3", self, "-measure", side)
		require.Zero(t, code, errOut)
		require.NoError(t, found.Add(1, out))
	}
	out, errOut, code := testsupport.Run(t, time.Minute, nil, self, "-measure", "Peers/processes=100")
	require.Zero(t, code, errOut)
	require.NoError(t, found.Add(1, out))
	for _, name := range []string{"Exchange/processes=3", "Start/processes=3", "Private/processes=3", "Peers/processes=100", "Links/processes=100"} {
		assert.Positive(t, found.Values[name][1].Number, name)
	}
	_, errOut, code = testsupport.Run(t, time.Minute, nil, self, "-measure", "Exchange/processes=3")
	assert.Equal(t, report.NotDone, code)
	assert.Contains(t, errOut, "not started by mpiexec")
}
