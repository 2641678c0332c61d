// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build !verbs

package job

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A program without verbs says so in one line, and how to get them.
func TestWithoutVerbs(t *testing.T) {
	_, err := readFar(environment(map[string]string{"TPSL_CARRIER": "verbs"}))
	assert.EqualError(t, err, "environment: TPSL_CARRIER=verbs: this program is built without verbs: build it with go build -tags verbs, or leave this out")
}
