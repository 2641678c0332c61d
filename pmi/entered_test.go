// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/pmi"
)

func TestEntered(t *testing.T) {
	var entered pmi.Entered
	var got []string
	wait := func(barrier string) bool {
		return entered.Add(barrier, func(_ []pmi.Entry, err error) {
			got = append(got, barrier)
			if err != nil {
				got = append(got, err.Error())
			}
		})
	}
	assert.True(t, wait("a"))
	assert.True(t, wait("b"))
	done := pmi.Arrival{Barrier: "a", Count: 2}.Append(nil)
	entered.Left(done)()
	entered.Left(done)()
	entered.Left([]byte("nonsense"))()
	assert.Equal(t, []string{"a"}, got, "each is left once")

	assert.True(t, wait("a"))
	entered.Left(done)()
	assert.Equal(t, []string{"a", "a"}, got, "and may be entered again")
	entered.Close()
	assert.False(t, wait("c"))
	assert.Equal(t, []string{"a", "a", "b", pmi.ErrClosed.Error(), "c", pmi.ErrClosed.Error()}, got)
}
