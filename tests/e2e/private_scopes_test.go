// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/internal/testsupport/dlcases"
)

// What private ranks open and look up is what flat ones find, case by case; each has its own
// working directory.
func TestPrivateScopes(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, c := range dlcases.Cases {
		t.Run(c.Name, func(t *testing.T) {
			folder := t.TempDir()
			program, _ := c.Build(t, folder)
			job := func(options string) []string {
				return mpiexec(t, nil, "-n 2 -wdir "+folder+options, program, c.Script).succeeded(t).lines()
			}
			assert.Equal(t, job(""), job(" -rpp 2 -tpsl private"))
		})
	}
}
