// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import "fmt"

// A Span is the ranks of a process.
type Span struct{ First, Ports int }

// Places returns for each rank the process that has it. Ranks between those of processes are no one's: -1.
func Places(processes []Span) ([]int32, error) {
	size := 0
	for _, s := range processes {
		if s.First < 0 || s.Ports < 1 || s.First > 1<<30 || s.Ports > 1<<30 {
			return nil, fmt.Errorf("a process of %d ranks from %d on", s.Ports, s.First)
		}
		size = max(size, s.First+s.Ports)
	}
	places := make([]int32, size)
	for rank := range places {
		places[rank] = -1
	}
	for process, s := range processes {
		for rank := s.First; rank < s.First+s.Ports; rank++ {
			if places[rank] >= 0 {
				return nil, fmt.Errorf("two processes have rank %d", rank)
			}
			places[rank] = int32(process)
		}
	}
	return places, nil
}
