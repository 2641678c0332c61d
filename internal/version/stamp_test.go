// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIn(t *testing.T) {
	for file, want := range map[string]string{
		"":                            "",
		"\x7fELF nothing of the kind": "",
		"tpsl_version=1.2.3;tpsl":     "1.2.3",
		"tpsl_version=1.2.3":          "",
		"tpsl_version=" + strings.Repeat("x", 101) + ";": "",
	} {
		assert.Equal(t, want, In([]byte(file)), file)
	}
}
