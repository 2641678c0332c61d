// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// bootImage makes a boot image with one sector of set-up code, as a kernel's build does.
func bootImage(stream []byte, size int) []byte {
	const gap = 100
	image := make([]byte, 2*512+gap)
	image[0x1f1] = 1
	copy(image[0x202:], "HdrS\x0f\x02")
	binary.LittleEndian.PutUint32(image[0x248:], gap)
	binary.LittleEndian.PutUint32(image[0x24c:], uint32(len(stream)+4))
	return append(binary.LittleEndian.AppendUint32(append(image, stream...), uint32(size)), "after it"...)
}

func TestDecompressKernel(t *testing.T) {
	testsupport.Require(t, "xz")
	kernel := []byte("\x7fELF" + strings.Repeat("kernel ", 1000))
	cmd := exec.Command("xz", "--check=crc32", "--x86", "--lzma2", "-c") // as Linux is packed
	cmd.Stdin = bytes.NewReader(kernel)
	packed, err := cmd.Output()
	require.NoError(t, err)
	got, err := decompressKernel(bootImage(packed, len(kernel)))
	require.NoError(t, err)
	assert.Equal(t, kernel, got)
	_, err = decompressKernel(bootImage(packed, len(kernel)+1))
	assert.ErrorContains(t, err, "7004 bytes instead of an ELF file of 7005")
	_, err = decompressKernel(bootImage(packed[:len(packed)-9], len(kernel)))
	assert.ErrorContains(t, err, "xz: exit status 1: ")
}

func TestNoKernel(t *testing.T) {
	change := func(at int, to string) []byte {
		image := bootImage([]byte("?"), 1)
		copy(image[at:], to)
		return image
	}
	for name, c := range map[string]struct {
		image []byte
		want  string
	}{
		"empty":            {nil, "not a boot image of x86 Linux"},
		"no magic":         {change(0x202, "Hdrs"), "not a boot image of x86 Linux"},
		"old":              {change(0x206, "\x07\x02"), "boot protocol 0x207"},
		"payload too long": {change(0x24c, "\xff\xff\xff\xff"), "payload from 1124 to 4294968419 in 1137 bytes"},
		"payload too far":  {change(0x248, "\xff\xff\xff\xff"), "in 1137 bytes"},
		"no size":          {change(0x24c, "\x03"), "payload from 1124 to 1127"},
		"other packer":     {change(0x24c, "\x05"), "payload starts with 3f"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decompressKernel(c.image)
			require.ErrorIs(t, err, errNotBoot)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// A payload, if there is one, lies within the image, and its size stands behind it.
func FuzzFindPayload(f *testing.F) {
	f.Add(bootImage([]byte("stream"), 6))
	f.Add([]byte("HdrS"))
	f.Fuzz(func(t *testing.T, image []byte) {
		p, err := findPayload(image)
		if err != nil {
			assert.ErrorIs(t, err, errNotBoot)
			return
		}
		assert.True(t, bytes.Contains(image, binary.LittleEndian.AppendUint32(bytes.Clone(p.stream), p.size)))
	})
}
