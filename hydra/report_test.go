// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The document explains every name of the report, and no other name.
func TestReportIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testsupport.Root(t), "docs", "report.md"))
	require.NoError(t, err)
	var documented []string
	for line := range strings.Lines(string(text)) {
		if name, found := strings.CutPrefix(line, "| `"); found {
			name, _, _ = strings.Cut(name, "`")
			documented = append(documented, name)
		}
	}
	assert.ElementsMatch(t, jsonNames(reflect.TypeFor[Report](), ""), documented)
}

func jsonNames(of reflect.Type, prefix string) (names []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, prefix+name)
		if field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct {
			names = append(names, jsonNames(field.Type.Elem(), prefix+name+".")...)
		}
	}
	return names
}
