// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// An inquiry goes on when all have answered, or when it is too late, and those who ask meanwhile share the answers.
func TestInquiry(t *testing.T) {
	var q inquiry
	a, b, c := &proxyLink{}, &proxyLink{}, &proxyLink{done: true}
	asked, ended := 0, 0
	begin := func() {
		q.begin([]*proxyLink{a, b, c}, func(*proxyLink) { asked++ }, func() { ended++ })
	}
	begin()
	assert.Equal(t, 2, asked, "what is done is not asked")
	assert.NotNil(t, q.late)
	q.answered(a)
	begin()
	assert.Equal(t, 2, asked, "they have been asked")
	assert.True(t, q.underWay())
	assert.Zero(t, ended)
	q.answered(b)
	assert.Equal(t, 2, ended, "both who have asked go on")
	assert.False(t, q.underWay())
	assert.Nil(t, q.late)
	assert.Empty(t, q.silent)

	begin()
	q.answered(a)
	q.end() // it is too late
	assert.Equal(t, 3, ended)
	assert.Equal(t, map[*proxyLink]bool{b: true}, q.silent)
	q.answered(b)
	assert.Equal(t, 3, ended, "a late answer leads to nothing")
	assert.Empty(t, q.silent)

	begin()
	b.done = true // its host is lost
	q.answered(a)
	assert.Equal(t, 4, ended)
}

// Without a proxy to ask it goes on at once, and what follows may begin another one.
func TestInquiryOfNobody(t *testing.T) {
	var q inquiry
	ended := 0
	q.begin(nil, nil, func() { q.begin(nil, nil, func() { ended++ }) })
	assert.Equal(t, 1, ended)
}
