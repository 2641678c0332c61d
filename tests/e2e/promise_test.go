// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tpsl/names"
)

// promised returns the kinds of the symbols that libtpsl.so.0 has had, by name.
func promised(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/libtpsl.so.0.symbols")
	require.NoError(t, err)
	kinds := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line, _, _ := strings.Cut(line, "#")
		if name, kind, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			require.NotContains(t, kinds, name)
			kinds[name] = kind
		}
	}
	return kinds
}

// kindOf is what a program has compiled in: that it calls a name, or how large the
// variable is.
func kindOf(s elf.Symbol) string {
	if elf.ST_TYPE(s.Info) == elf.STT_OBJECT {
		return fmt.Sprintf("variable %d", s.Size)
	}
	return "function"
}

// A program that was linked with any libtpsl.so.0 finds all that it found then.
func TestPromise(t *testing.T) {
	symbols, err := libtpsl(t).DynamicSymbols()
	require.NoError(t, err)
	has := map[string]string{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && !slices.Contains(names.Fronts, s.Name) {
			has[s.Name] = kindOf(s)
		}
	}
	kinds := promised(t)
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		assert.Equal(t, kinds[name], has[name], "libtpsl.so.0 has promised %s: see docs/abi.md", name)
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		assert.Contains(t, kinds, name, "a new symbol: add \"%s %s\" to libtpsl.so.0.symbols", name, has[name])
	}
}

// The prototypes of tpsl.h are what they were, and all of them are in the promise.
func TestPrototypes(t *testing.T) {
	testsupport.CC(t, "gcc", "testdata/prototypes.c", "-c", "-std=gnu11", "-Wall", "-Werror", "-I"+testsupport.Root(t)+"/include")
	source, err := os.ReadFile("testdata/prototypes.c")
	require.NoError(t, err)
	var held []string
	for _, m := range regexp.MustCompile(`(?m)^IS\((\w+),`).FindAllSubmatch(source, -1) {
		held = append(held, string(m[1]))
	}
	assert.ElementsMatch(t, ownNames(t), held)
}
