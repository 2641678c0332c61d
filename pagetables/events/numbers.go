// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64

package events

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf/link"
)

// numbers returns the kernel's own number of each thread, by the number that it has in this
// process's namespace.
func (k *Kernel) numbers() (map[int32]int32, error) {
	iter, err := link.AttachIter(link.IterOptions{Program: k.running.Programs[kernelProgNumbers]})
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	defer iter.Close()
	text, err := iter.Open()
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	defer text.Close()
	return readNumbers(text)
}

func readNumbers(pairs io.Reader) (map[int32]int32, error) {
	kernel := map[int32]int32{}
	r := bufio.NewReader(pairs)
	for {
		var pair struct{ Seen, Own int32 }
		err := binary.Read(r, binary.NativeEndian, &pair)
		if errors.Is(err, io.EOF) {
			return kernel, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list threads: %w", err)
		}
		kernel[pair.Seen] = pair.Own
	}
}
