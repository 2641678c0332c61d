// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"slices"
)

// explanations are what hosts know of why their ranks have failed. What is wrong on one host is often wrong on all.
type explanations []explanation

type explanation struct {
	text  string
	hosts []string // that say so
}

func (all *explanations) add(host, text string) {
	i := slices.IndexFunc(*all, func(e explanation) bool { return e.text == text })
	if i < 0 {
		i = len(*all)
		*all = append(*all, explanation{text: text})
	}
	if e := &(*all)[i]; !slices.Contains(e.hosts, host) {
		e.hosts = append(e.hosts, host)
	}
}

// lines returns a line for each text.
func (all explanations) lines() (lines []string) {
	for _, e := range all {
		line := fmt.Sprintf("mpiexec: host %s: %s", e.hosts[0], e.text)
		switch more := len(e.hosts) - 1; {
		case more == 1:
			line += " (and 1 more host)"
		case more > 1:
			line += fmt.Sprintf(" (and %d more hosts)", more)
		}
		lines = append(lines, line)
	}
	return lines
}
