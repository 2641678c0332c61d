// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader"
)

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	require.NoError(t, os.WriteFile(text, []byte("not a library\n"), 0o600))
	whole, err := os.ReadFile(counter(t))
	require.NoError(t, err)
	short := filepath.Join(dir, "short.so")
	require.NoError(t, os.WriteFile(short, whole[:3000], 0o600))
	foreign := filepath.Join(dir, "arm.so")
	other := append([]byte(nil), whole...)
	other[18] = 183 // EM_AARCH64
	require.NoError(t, os.WriteFile(foreign, other, 0o600))

	for _, c := range []struct {
		name, path string
		says       []string
	}{
		{"no file", filepath.Join(dir, "absent.so"), []string{"absent.so"}},
		{"no such name", "libnosuch.so.9", []string{"libnosuch.so.9"}},
		{"not ELF", text, []string{"text.so"}},
		{"truncated", short, []string{"short.so"}},
		{"another machine", foreign, []string{"arm.so", "AARCH64"}},
		{"undefined symbols, all of them", library(t, "undefined.c", "-Wl,-z,undefs"), []string{"no_such_a", "no_such_b"}},
		{"the C library", "libc.so.6", []string{"libc.so.6 is one for the whole process", "open a library that uses it"}},
		{"huge TLS", library(t, "huge_tls.c"), []string{"thread-local storage of 2147483648 bytes (PT_TLS), 1073741824 are possible"}},
		{"executable stack", library(t, "same.c", "-DANSWER=1", "-Wl,-z,execstack"), []string{"PT_GNU_STACK", "noexecstack"}},
		{"text relocations", library(t, "textrel.c", "-Wl,-z,notext"), []string{"DT_TEXTREL", "-fPIC"}},
		{"too large static TLS", library(t, "static_tls.c", "-ftls-model=initial-exec", "-DSIZE=600"),
			[]string{"libstatic_tls.so: 6", " bytes, 512 of the 512 of each thread's static block are left", "-ftls-model=global-dynamic"}},
		{"too large together", library(t, "static_tls.c", append(append([]string{"-Wl,--no-as-needed"}, linkTo(library(t, "static_tls_others.c", "-DBIG=400", "-ftls-model=initial-exec"))...), "-ftls-model=initial-exec", "-DSIZE=200")...),
			[]string{"libstatic_tls_others.so: 404 bytes", " of the 512 of each thread's static block are left"}},
		{"alignment of static TLS", library(t, "static_tls.c", "-ftls-model=initial-exec", "-DALIGN=128"), []string{"aligned to 128 bytes, 64 are possible"}},
		{"a program's TLS", testsupport.CC(t, "gcc", "testdata/static_tls.c", "-pie", "-fPIE", "-Wl,-e,bump", "-nostartfiles"), []string{"local-exec"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := mappings(t)
			_, err := loader.Open(c.path)
			require.Error(t, err)
			for _, s := range c.says {
				assert.ErrorContains(t, err, s)
			}
			assert.NotContains(t, err.Error(), "\n")
			assert.Equal(t, before, mappings(t), "mappings left behind")
		})
	}
}

// mappings counts the mappings of fixture files.
func mappings(t *testing.T) int {
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return countLines(string(maps), ".so")
}
