// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// sizesOfReplies are in bytes, of requests or of replies; those of the others are keys of a rank, and the edge of a cube.
var sizesOfReplies, sizesOfKeysort, sizesOfFourier = []int{small, medium, 1 << 20}, []int{1 << 16, 1 << 20}, []int{64}

// kernels measures parts of programs with progress by neighbours, with a thread for progress, and without both: replies of a rank that
// computes, and two kernels whose ranks compute alike, so that a neighbour has little time to help.
func kernels(p plan) suite {
	s := suite{suffix: "-" + measuredKernels, goals: slices.Concat(goalsOfReplies(), goalsOfKernels())}
	ends := filepath.Join(turns.Sources, "ends.c")
	for _, c := range []struct {
		program string
		sizes   []int
	}{{"replies", sizesOfReplies}, {"keysort", sizesOfKeysort}, {"fourier", sizesOfFourier}} {
		for _, compiler := range []string{"mpicc.mpich", "bin/tpslcc"} {
			s.commands = append(s.commands, append(turns.CC(compiler, c.program), ends, "-lm"))
		}
		s.contests = append(s.contests, p.compare(c.program, 1, c.sizes, flat, asynchronous, tpslThreads, neighbourThreads))
	}
	return s
}

func goalsOfReplies() (all []report.Goal) {
	for _, op := range []string{"request", "column"} {
		for _, size := range sizesOfReplies {
			name := func(mode string) string { return fmt.Sprintf("Replies/mode=%s/op=%s/size=%d", mode, op, size) }
			for _, mode := range []string{"neighbours", "tpsl", "async"} {
				all = append(all, report.Goal{What: fmt.Sprintf("reply, %s of %d B, %s/flat", op, size, mode), Name: name(mode), Base: name("flat")})
			}
		}
	}
	return all
}

func goalsOfKernels() (all []report.Goal) {
	for _, k := range []struct {
		program string
		ops     []string
		sizes   []int
	}{
		{"Keysort", []string{"round", "mpi"}, sizesOfKeysort},
		{"Fourier", []string{"alltoall", "alltoall-mpi", "ialltoall", "ialltoall-mpi"}, sizesOfFourier},
	} {
		for _, op := range k.ops {
			for _, size := range k.sizes {
				name := func(mode string) string {
					return fmt.Sprintf("%s/mode=%s/op=%s/ranks=2/size=%d", k.program, mode, op, size)
				}
				what := fmt.Sprintf("%s of %d, %s, ", strings.ToLower(k.program), size, op)
				whole := !strings.HasSuffix(op, "mpi")
				all = append(all,
					report.Goal{What: what + "neighbours/tpsl", Name: name("neighbours"), Base: name("tpsl"), NotWorse: whole},
					report.Goal{What: what + "neighbours/flat", Name: name("neighbours"), Base: name("flat")},
					report.Goal{What: what + "async/flat", Name: name("async"), Base: name("flat")})
			}
		}
	}
	return all
}
