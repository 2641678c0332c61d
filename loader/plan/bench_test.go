// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/plan"
)

// BenchmarkMake plans MPICH and the transport that UCX opens by dlopen.
func BenchmarkMake(b *testing.B) {
	testsupport.Require(b, "mpicc.mpich")
	b.ReportAllocs()
	for b.Loop() {
		p, err := plan.Make("libmpich.so.12", options())
		require.NoError(b, err)
		_, err = p.Extend("/usr/lib/x86_64-linux-gnu/ucx/libuct_cma.so.0", plan.Opening{})
		require.NoError(b, err)
	}
}
