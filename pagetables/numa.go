// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A nodeReader reads /proc/PID/numa_maps (numa(7)), whose lines are in the order of those
// of smaps. A nil one knows of no node.
type nodeReader struct {
	lines *bufio.Reader
	start uint64 // of the line read last
	nodes Nodes
}

func newNodeReader(text io.Reader) *nodeReader {
	return &nodeReader{lines: bufio.NewReaderSize(text, longest)}
}

// of returns the nodes of the pages of the mapping at an address. Addresses must rise.
func (r *nodeReader) of(start uint64) (Nodes, error) {
	for r != nil && r.start < start {
		line, err := r.lines.ReadSlice('\n')
		if len(line) == 0 {
			r.start = ^uint64(0) // the mapping has come after numa_maps was read
			break
		}
		if err == nil || errors.Is(err, io.EOF) {
			r.start, r.nodes, err = parseNodes(string(line))
		}
		if err != nil {
			return nil, err
		}
	}
	if r == nil || r.start != start {
		return nil, nil
	}
	return r.nodes, nil
}

// parseNodes reads "ADDRESS POLICY ... N0=12 N1=3 kernelpagesize_kB=4".
func parseNodes(line string) (start uint64, nodes Nodes, err error) {
	fields := strings.Fields(line)
	bad := fmt.Errorf("%w line of numa_maps: %.80q", errMalformed, line)
	if len(fields) < 2 {
		return 0, nil, bad
	}
	if start, err = strconv.ParseUint(fields[0], 16, 64); err != nil {
		return 0, nil, bad
	}
	size := uint64(pageSize)
	pages := Nodes{}
	for _, field := range fields[2:] {
		name, value, _ := strings.Cut(field, "=")
		n, err := strconv.ParseUint(value, 10, 40)
		if node, isNode := nodeNumber(name); isNode && err == nil {
			pages[node] += n
		} else if name == "kernelpagesize_kB" && err == nil && n <= 1<<20 {
			size = n << 10
		}
	}
	for node := range pages {
		pages[node] *= size
	}
	return start, pages, nil
}

// nodeNumber reads the number of "N12". Paths, which stand behind "file=", are none.
func nodeNumber(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "N")
	n, err := strconv.ParseUint(digits, 10, 16)
	return int(n), ok && err == nil
}
