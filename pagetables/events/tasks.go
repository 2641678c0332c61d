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

// task is what the kernel knows of a thread.
type task struct {
	own    int32 // its number
	asleep bool
}

// tasks lists threads by the number that each has in this process's namespace.
func (k *Kernel) tasks() (map[int32]task, error) {
	iter, err := link.AttachIter(link.IterOptions{Program: k.running.Programs[kernelProgTasks]})
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	defer iter.Close()
	text, err := iter.Open()
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	defer text.Close()
	return readTasks(text)
}

func readTasks(text io.Reader) (map[int32]task, error) {
	tasks := map[int32]task{}
	r := bufio.NewReader(text)
	for {
		var line struct{ Seen, Own, Asleep int32 }
		err := binary.Read(r, binary.NativeEndian, &line)
		if errors.Is(err, io.EOF) {
			return tasks, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list threads: %w", err)
		}
		tasks[line.Seen] = task{line.Own, line.Asleep != 0}
	}
}
