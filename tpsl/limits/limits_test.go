// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// C checks the address space before Go runs.
func TestAddressMiBIsThatOfC(t *testing.T) {
	source, err := os.ReadFile("../place.c")
	require.NoError(t, err)
	assert.Contains(t, string(source), fmt.Sprintf("ADDRESS_SPACE_MIB = %d ", AddressMiB))
}

func TestCheck(t *testing.T) {
	assert.NoError(t, Check(1, 1))
	assert.ErrorContains(t, Check(1e6, 1e6), "1000000 ranks need about ")
	assert.ErrorContains(t, Check(1, 1e6), "vm.max_map_count")
}
