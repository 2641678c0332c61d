// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/pagetables"
)

// Amounts have a unit, and numbers of more than three digits have separators.
func TestUnitsAndSeparators(t *testing.T) {
	const mebibyte = 1 << 20
	figures := pagetables.Figures{Anonymous: 3 * mebibyte, Resident: 5 * mebibyte, Mapped: 2048 * mebibyte}
	process := &pagetables.Process{
		Command: "prog", PID: 4194304, Ranks: make([]pagetables.Rank, 2), Tables: 4 * mebibyte, Total: figures,
		Rows: []*pagetables.Row{{Owner: pagetables.Owner{Kind: pagetables.OfRank, Number: 7}, Figures: figures}},
	}
	report := &Report{
		Processes: []*pagetables.Process{process},
		PerRank:   &Costs{Ranks: 1234, Bytes: 2 * mebibyte, Flat: 8 * mebibyte, Ratio: 0.25},
		Proofs:    []*pagetables.Proof{{PID: 9, Objects: []*pagetables.ProofObject{{Object: "libmpich.so.12", Instances: 2, Text: 12345, Data: 1000}}}},
	}
	var out strings.Builder
	require.NoError(t, printReport(&out, "", request{by: "rank"}, report))
	assert.Equal(t, `prog, process 4194304: 2 ranks, page tables 4,096 kB
  PRIVATE  SHARED  TABLES  TOTAL  COPIED  SWAPPED  HUGE     MAPPED  RANK
       kB      kB      kB     kB      kB       kB    kB         kB
    3,072   2,048       0  5,120       0        0     0  2,097,152  rank 7
    3,072   2,048       0  5,120       0        0     0  2,097,152  sum

1,234 ranks, private memory and page tables of each: 2,048 kB
as a process: 8,192 kB; ratio 0.25
process 9, pages by their frames:
  INSTANCES    TEXT  APART   DATA  SAME  OBJECT
          2  12,345      0  1,000     0  libmpich.so.12
12,345 pages of text, 1,000 of data: the proof holds: text is in the same frames in all instances, data in frames of its own
`, out.String())
}
