// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A softList is the value of -soft: numbers first, first+step ... up to last (MPI-4.0, section 11.5, "Starting Processes").
type softList [][3]int

func setSoft(p *parser, v string) error {
	var list softList
	for part := range strings.SplitSeq(v, ",") {
		triplet := [3]int{0, 0, 1}
		fields := strings.Split(part, ":")
		for i, field := range fields {
			n, err := strconv.Atoi(field)
			if err != nil || len(fields) > 3 || n < 0 || n > maxRanks || i == 2 && n == 0 {
				return fmt.Errorf("%q is not a number or a range FIRST:LAST:STEP", part)
			}
			triplet[i] = n
		}
		if len(fields) == 1 {
			triplet[1] = triplet[0]
		}
		list = append(list, triplet)
	}
	p.state.soft = list
	return nil
}

// most returns the largest number of the list up to limit, where 0 is no limit.
func (s softList) most(limit int) (int, error) {
	best := 0
	for _, t := range s {
		last := t[1]
		if limit > 0 {
			last = min(last, limit)
		}
		if last >= t[0] {
			best = max(best, t[0]+(last-t[0])/t[2]*t[2])
		}
	}
	switch {
	case best > 0:
		return best, nil
	case limit > 0:
		return 0, fmt.Errorf("option -soft: no number of the list is from 1 to %d", limit)
	}
	return 0, errors.New("option -soft: no number of the list is above 0")
}
