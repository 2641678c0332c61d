// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// otherBuild stands behind the names of figures of the other build of -against.
const otherBuild = "/build=before"

var figure = regexp.MustCompile(`(?m)^Benchmark\S+`)

// withOther adds to each side the same side of another build of this command. Commands of other programs have none.
func withOther(contests []turns.Contest, build string, command []string) []turns.Contest {
	for i := range contests {
		sides := contests[i].Sides
		for _, s := range slices.Clone(sides) {
			if s.Argv[0] != command[0] {
				continue
			}
			s.Name, s.Argv = s.Name+otherBuild, append([]string{build}, s.Argv[1:]...)
			s.In = func(ctx context.Context, env []string, argv ...string) (stdout, stderr string, code int, err error) {
				stdout, stderr, code, err = testsupport.OutputContext(ctx, env, argv...)
				return figure.ReplaceAllString(stdout, "${0}"+otherBuild), stderr, code, err
			}
			sides = append(sides, s)
		}
		contests[i].Sides = sides
	}
	return contests
}

// goalsOfBuilds compare each figure that two builds have.
func goalsOfBuilds(found *results.Set) (all []report.Goal) {
	for _, name := range found.Names() {
		if now, is := strings.CutSuffix(name, otherBuild); is {
			all = append(all, report.Goal{What: now + ", now/before", Name: now, Base: name, NotWorse: true})
		}
	}
	return all
}
