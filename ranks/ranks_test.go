// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ranks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/ranks"
)

// A program that is not built with tpslcc is told so.
func TestNotLinked(t *testing.T) {
	err := ranks.Run(2, func(int) error { panic("runs") })
	assert.EqualError(t, err, "run ranks: the program is not linked with libtpsl; build it with CC=tpslcc")
}
