// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func pageLines(t *testing.T, w *tree) (all []string) {
	p, err := w.proc.Read(9)
	require.NoError(t, err)
	require.NoError(t, w.proc.EachPages(p, func(run *Pages) error {
		all = append(all, fmt.Sprintf("%x-%x %s %t %d %t %s %s %s", run.Start, run.End, run.State, run.Exclusive, run.Times, run.Huge, run.Owner, run.Object, run.Segment))
		return nil
	}))
	return all
}

func TestPages(t *testing.T) {
	w := threads(t)
	all := pageLines(t, w)
	assert.Equal(t, []string{
		"100000-101000 file false 0 false process /opt/lib/libtpsl.so.0 rodata",
		"200000-201000 file false 0 false rank 3 /lib/libmpich.so.12 rodata",
		"201000-202000 file false 0 false rank 3 /lib/libmpich.so.12 text",
		"203000-204000 copied true 0 false rank 3 /lib/libmpich.so.12 relro",
		"204000-205000 swapped false 0 false rank 3 /lib/libmpich.so.12 data",
		"205000-206000 anonymous true 0 false rank 3 /lib/libmpich.so.12 bss",
		"206000-207000 anonymous true 0 false rank 3 thread-locals rw-p",
		"207000-208000 anonymous false 0 false process anonymous rw-p",
	}, all[:8])
	assert.Contains(t, all, "4000000-4003000 anonymous true 0 false rank 4 heap rw-p")
}

// frames writes what the kernel says of each page frame.
func (w *tree) frames(name string, words ...uint64) {
	w.t.Helper()
	var text []byte
	for _, word := range words {
		text = binary.LittleEndian.AppendUint64(text, word)
	}
	require.NoError(w.t, os.WriteFile(filepath.Join(string(w.proc), name), text, 0o600))
}

// With numbers of frames more is known of them.
func TestPageFrames(t *testing.T) {
	w := newTree(t)
	w.process(9, 1, "prog")
	w.maps(9, []vma{{0x1000, "rw-p", 0, "", []uint64{anonymous | 5, anonymous | 6, anonymous | 7, anonymous | 9, forked | 8}}})
	w.frames("kpagecount", 0, 0, 0, 0, 0, 2, 2, 2, 99)
	w.frames("kpageflags", 0, 0, 0, 0, 0, 0, 0, flagHugePage, flagZero)
	assert.Equal(t, []string{
		"1000-3000 anonymous true 2 false process anonymous rw-p",
		"3000-4000 anonymous true 2 true process anonymous rw-p",
		"4000-5000 anonymous true 0 false process anonymous rw-p",
	}, pageLines(t, w))
}

// zeros is the frame of the page of zeros, which all may have.
const zeros = 30

// framed gives pages numbers of frames, by their mappings' names and permissions.
func framed(t *testing.T, data4 uint64, text4 uint64) *tree {
	w := newTree(t)
	w.process(9, 1, "prog")
	w.maps(9, []vma{
		{0x100000, "r--p", 0, "/opt/lib/libtpsl.so.0", []uint64{ofFile | 1, ofFile | 2}},
		{lib3, "r-xp", 0, library, []uint64{ofFile | 10, ofFile | 11, none}},
		{lib3 + 0x3000, "rw-p", 0x3000, library, []uint64{anonymous | 20, ofFile | 12, forked | zeros}},
		{lib4, "r-xp", 0, library, []uint64{ofFile | text4, none, ofFile | 13}},
		{lib4 + 0x3000, "rw-p", 0x3000, library, []uint64{anonymous | data4, ofFile | 12, forked | zeros}},
	})
	w.memory(9, threadsMemory())
	w.frames("kpagecount")
	w.frames("kpageflags", append(make([]uint64, zeros), flagZero)...)
	return w
}

func TestProof(t *testing.T) {
	for _, c := range []struct {
		name         string
		data4, text4 uint64
		want         ProofObject
		holds        bool
	}{
		{"holds", 21, 10, ProofObject{library, 2, 1, 0, 2, 0}, true},
		{"text of its own", 21, 14, ProofObject{library, 2, 1, 1, 2, 0}, false},
		{"data of another", 20, 10, ProofObject{library, 2, 1, 0, 2, 1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := framed(t, c.data4, c.text4)
			p, err := w.proc.Read(9)
			require.NoError(t, err)
			proof, err := w.proc.Prove(p)
			require.NoError(t, err)
			assert.Equal(t, []*ProofObject{&c.want}, proof.Objects)
			assert.Equal(t, c.holds, proof.Holds())
		})
	}
	w := framed(t, 0, 10)
	p, err := w.proc.Read(9)
	require.NoError(t, err)
	_, err = w.proc.Prove(p)
	assert.ErrorIs(t, err, ErrNoFrames)
}

// A page that the kernel moves while frames are compared makes no proof fail. What is wrong stays wrong.
func TestProofIsRepeated(t *testing.T) {
	for name, c := range map[string]struct{ moved, passes int }{"nothing moves": {0, 1}, "a page is moved": {2, 3}, "not shared": {100, proofs}} {
		t.Run(name, func(t *testing.T) {
			passes := 0
			proof, err := untilHolds(func() (*Proof, error) {
				passes++
				object := &ProofObject{Object: library}
				if passes <= c.moved {
					object.TextApart = 1
				}
				return &Proof{Objects: []*ProofObject{object}}, nil
			})
			require.NoError(t, err)
			assert.Equal(t, c.passes, passes)
			assert.Equal(t, c.moved < proofs, proof.Holds())
		})
	}
	proof, err := untilHolds(func() (*Proof, error) { return nil, ErrNoFrames })
	assert.Nil(t, proof)
	assert.ErrorIs(t, err, ErrNoFrames)
}
