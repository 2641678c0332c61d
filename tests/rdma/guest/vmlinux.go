// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// A payload is the compressed kernel inside a boot image.
type payload struct {
	stream []byte
	size   uint32 // of the kernel
}

var errNotBoot = errors.New("not a boot image of x86 Linux")

// findPayload reads the header of a boot image: Documentation/arch/x86/boot.rst of Linux, protocol 2.08 and later.
func findPayload(image []byte) (payload, error) {
	const sectors, magic, version, offset, length, end = 0x1f1, 0x202, 0x206, 0x248, 0x24c, 0x250
	if len(image) < end || string(image[magic:version]) != "HdrS" {
		return payload{}, errNotBoot
	}
	if v := binary.LittleEndian.Uint16(image[version:]); v < 0x208 {
		return payload{}, fmt.Errorf("%w with a payload: boot protocol %#x", errNotBoot, v)
	}
	setup := int64(image[sectors])
	if setup == 0 {
		setup = 4
	}
	from := (setup+1)*512 + int64(binary.LittleEndian.Uint32(image[offset:]))
	to := from + int64(binary.LittleEndian.Uint32(image[length:]))
	if to > int64(len(image)) || to-from < 4 {
		return payload{}, fmt.Errorf("%w: payload from %d to %d in %d bytes", errNotBoot, from, to, len(image))
	}
	// The build appends the kernel's size to the compressed stream.
	return payload{image[from : to-4], binary.LittleEndian.Uint32(image[to-4:])}, nil
}

// decompressKernel returns the ELF file inside a boot image: a machine starts it sooner than it unpacks it.
func decompressKernel(image []byte) ([]byte, error) {
	p, err := findPayload(image)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(p.stream, []byte("\xfd7zXZ\x00")) {
		return nil, fmt.Errorf("%w packed by xz, as Debian does: payload starts with %x", errNotBoot, p.stream[:min(6, len(p.stream))])
	}
	cmd := exec.Command("xz", "-dc")
	cmd.Stdin = bytes.NewReader(p.stream)
	kernel, err := output(cmd)
	if err != nil {
		return nil, err
	}
	if len(kernel) != int(p.size) || !strings.HasPrefix(kernel, "\x7fELF") {
		return nil, fmt.Errorf("%w: %d bytes instead of an ELF file of %d", errNotBoot, len(kernel), p.size)
	}
	return []byte(kernel), nil
}
