// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// goals are the same for quick runs.
func goals(found *results.Set) []report.Goal {
	return report.Due(found, append(goalsOfModes(), goalsOfRails()...))
}

// goalsOfModes are that thread ranks are not worse than flat ones.
func goalsOfModes() (all []report.Goal) {
	for _, pairs := range []int{1, 2} {
		for _, what := range []struct {
			text, kind, size string
		}{{"8 B latency", "Latency", small}, {"8 B message rate", "Rate", small}, {"64 KiB bandwidth", "Bandwidth", large}} {
			of := func(mode string) string {
				return fmt.Sprintf("%s/mode=%s/between=guests/pairs=%d/size=%s", what.kind, mode, pairs, what.size)
			}
			text := fmt.Sprintf("%s of %s", what.text, [...]string{"", "1 pair", "2 pairs"}[pairs])
			all = append(all,
				report.Goal{What: text + ", tpsl/flat", Name: of("tpsl"), Base: of("flat"), NotWorse: true},
				report.Goal{What: text + ", tpsl/tags", Name: of("tpsl"), Base: of("tags")})
		}
	}
	return all
}

// goalsOfRails are that two rails are worth nearly two, where they and not the CPUs are the limit.
func goalsOfRails() (all []report.Goal) {
	for _, where := range []struct {
		text, name string
		atLeast    float64
	}{{"two links of TCP", "hosts", 1.6}, {"two RDMA devices", "guests", 0}} {
		of := func(rails string, pairs int) string {
			return fmt.Sprintf("Bandwidth/mode=tpsl/between=%s%s/pairs=%d/size=%s", where.name, rails, pairs, large)
		}
		all = append(all,
			report.Goal{What: where.text + ", each of two ranks has one/both have one", Name: of("/rails="+near, 2), Base: of("", 2), AtLeast: where.atLeast},
			report.Goal{What: where.text + ", a rank has both/has one", Name: of("/rails="+both, 1), Base: of("", 1), AtLeast: where.atLeast})
	}
	return all
}
