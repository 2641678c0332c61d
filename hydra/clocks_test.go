// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A clock that runs slower or faster than that of mpiexec is corrected between its two readings, and beyond.
func TestHostClock(t *testing.T) {
	c := hostClock{}
	assert.Zero(t, c.ahead(5*time.Second))
	assert.Zero(t, c.doubt())
	c.readings = []reading{{at: 100 * time.Second, ahead: time.Millisecond, doubt: 20 * time.Microsecond}}
	assert.Equal(t, time.Millisecond, c.ahead(200*time.Second))
	c.readings = append(c.readings, reading{at: 200 * time.Second, ahead: 3 * time.Millisecond, doubt: 50 * time.Microsecond})
	assert.Equal(t, 2*time.Millisecond, c.ahead(150*time.Second))
	assert.Equal(t, 4*time.Millisecond, c.ahead(250*time.Second))
	assert.Equal(t, 50*time.Microsecond, c.doubt())
	c.readings[1].doubt = -1 // nobody answered
	assert.Equal(t, time.Millisecond, c.ahead(250*time.Second))
}

func TestLayoutText(t *testing.T) {
	assert.Equal(t, "4 ranks in 2 processes on 1 host", layoutText(4, 1, 2))
	assert.Equal(t, "1 rank in 1 process on 1 host", layoutText(1, 1, 1))
}
