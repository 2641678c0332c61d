// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/tests/bench/results"
)

// Each mode has its column, with its own figures.
func TestMedians(t *testing.T) {
	found, err := results.Read(strings.NewReader("BenchmarkStartup/mode=flat/ranks=64 1 8 ms/job\nBenchmarkStartup/mode=flat-yields/ranks=64 1 5 ms/job\n" +
		"BenchmarkStartup/mode=tpsl/ranks=64 1 4 ms/job\nBenchmarkStartup/mode=neighbours/ranks=64 1 2 ms/job\n"))
	require.NoError(t, err)
	_, medians, _ := strings.Cut(Maker{}.summarise(found, nil, nil), "## Medians\n\n")
	assert.Equal(t, `| Startup | flat | flat-yields | tpsl | neighbours | tpsl/flat | neighbours/flat | neighbours/tpsl | tpsl/flat-yields |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
| ranks 64 | 8 ms/job | 5 ms/job | 4 ms/job | 2 ms/job | 0.5 (too few runs) | 0.25 (too few runs) | 0.5 (too few runs) | 0.8 (too few runs) |

`, medians)
}
