// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Thread ranks and private ranks on several hosts, each of them a proxy on this machine and a node to MPI. Where ranks go
// round the hosts, a set has ranks that do not follow each other.
func TestSetsOverHosts(t *testing.T) {
	testsupport.NothingLeft(t)
	ring, private := example(t, "ring"), flat(t, "../../examples/hello.c")
	for _, options := range []string{
		"-n 4 -rpp 4 -hosts a:3,b", "-n 4 -rpp 2 -hosts a,b", "-n 4 -rpp 2 -hosts a,b,c -rankmap 2,0,0,2",
	} {
		t.Run(options, func(t *testing.T) {
			options = "-launcher fork " + options
			assert.Equal(t, "ring: 4 ranks, sum 6, expected 6\n", mpiexec(t, nil, options, ring).succeeded(t).stdout)
			var seen []string
			for _, line := range mpiexec(t, []string{"OMP_NUM_THREADS=1"}, "-l "+options, private).succeeded(t).lines() {
				seen = append(seen, line[:len("[0] hello from rank 0")])
			}
			slices.Sort(seen)
			assert.Equal(t, []string{"[0] hello from rank 0", "[1] hello from rank 1", "[2] hello from rank 2", "[3] hello from rank 3"}, seen)
		})
	}
}
