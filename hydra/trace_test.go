// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRedact(t *testing.T) {
	shown := redact([]string{"A=1", "GITHUB_TOKEN=abc", "http_proxy=http://user:pw@host/", "db_password=x"})
	assert.Equal(t, []string{"A=1", "GITHUB_TOKEN=...", "http_proxy=...", "db_password=..."}, shown)
}
