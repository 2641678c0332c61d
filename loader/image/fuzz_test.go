// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// FuzzParse: the error is nil if and only if the image is not, nothing that can be asked
// of the image fails otherwise than by an error, and no input takes long.
func FuzzParse(f *testing.F) {
	for _, path := range []string{
		library(f, "-Wl,--hash-style=gnu"), library(f, "-Wl,--hash-style=sysv"), library(f, "-Wl,-z,pack-relative-relocs"),
		testsupport.CC(f, "gcc", "testdata/program.c", "-no-pie", "-Wl,-z,noseparate-code"),
	} {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		quick(t, func() { parseAll(t, data) })
	})
}

func parseAll(t *testing.T, data []byte) {
	m, err := Parse("fuzz", data)
	if (err == nil) != (m != nil) {
		t.Fatalf("image %v, error %v", m, err)
	}
	if m == nil {
		return
	}
	walkAll(t, m)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// walkAll asks for everything an image has.
func walkAll(t *testing.T, m *Image) {
	if s := m.Span(); s.Size == 0 || s.Vaddr+s.Size < s.Vaddr {
		t.Fatalf("span %+v", s)
	}
	if relocs, err := m.Relocs(); err == nil {
		for _, r := range relocs[:min(len(relocs), 1000)] {
			_, _ = m.Symbol(r.Sym)
			if l := m.load(r.Offset); l == nil && r.Type != 0 {
				t.Fatalf("%+v outside", r)
			}
		}
	}
	n := 0
	for s := range m.Exports() {
		if found, ok := m.Lookup(s.Name, s.Version); ok && (found.Name != s.Name || !found.Defined()) {
			t.Fatalf("lookup of %+v found %+v", s, found)
		}
		if n++; n == 1000 {
			break
		}
	}
	for _, v := range m.NeededVersions() {
		_ = m.DefinesVersion(v.Version)
	}
	_, _ = m.Lookup("use", "V2")
	for _, r := range []Range{m.Dynamic, m.InitArray, m.Relro, {m.TLS.Vaddr, m.TLS.Filesz}, {m.Loads[0].Vaddr, 1 << 40}} {
		if b, err := m.Bytes(r.Vaddr, min(r.Size, 1<<20)); err == nil && uint64(len(b)) != min(r.Size, 1<<20) {
			t.Fatalf("%d bytes of %+v", len(b), r)
		}
	}
}
