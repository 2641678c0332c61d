// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// works are the examples of libraries that are not made for threads.
var works = []struct {
	name, source, compiler string
	flags                  []string
	dlmopen                bool // it works in namespaces: netCDF crashes there, in HDF5's initialisation
}{
	{"netcdf", "netcdf.c", "gcc", []string{"-lnetcdf"}, false},
	{"ginac", "ginac.cc", "g++", []string{"-lginac", "-lcln"}, true},
	{"arpack", "arpack.f90", "gfortran", []string{"-frecursive", "-larpack"}, true},
}

// copies measures copies of these libraries in threads against processes and dlmopen.
func copies() suite {
	s := suite{suffix: "-" + measuredCopies, commands: [][]string{turns.CC("gcc", "copies"), append(turns.CC("bin/tpslcc", "copies"), "-DTPSL")}}
	plain, ours := turns.Program("copies", "gcc"), turns.Program("copies", "tpslcc")
	for _, w := range works {
		file := filepath.Join("build", "bench", "lib"+w.name+".so")
		s.commands = append(s.commands, append([]string{w.compiler, "-O2", "-shared", "-fPIC",
			filepath.Join("examples", "hostile", w.source), "-o", file}, w.flags...))
		sides := []turns.Side{
			{Argv: []string{ours, "tpsl", w.name, file}},
			{Argv: []string{plain, "processes", w.name, file}},
			{Argv: []string{ours, "limit-tpsl", w.name, file}},
			{Argv: []string{plain, "limit-dlmopen", w.name, file}},
		}
		bases := []string{"processes"}
		if w.dlmopen {
			sides = append(sides, turns.Side{Argv: []string{plain, "dlmopen", w.name, file}})
			bases = append(bases, "dlmopen")
		}
		s.contests = append(s.contests, turns.Contest{Limit: 30 * time.Second, Sides: sides})
		s.goals = append(s.goals, compared(w.name, bases)...)
	}
	return s
}

// compared are the ratios to look at for one library.
func compared(library string, bases []string) (all []report.Goal) {
	ratio := func(what, base string) {
		name := func(way string) string { return fmt.Sprintf(what, library, way) }
		all = append(all, report.Goal{What: name("tpsl/" + base), Name: name("tpsl"), Base: name(base)})
	}
	for _, base := range bases {
		ratio("Create/lib=%s/way=%s", base)
		ratio("Memory/lib=%s/way=%s", base)
		for _, n := range []int{1, 2, 4, 8} {
			ratio("Work/lib=%s/way=%s/n="+fmt.Sprint(n), base)
			ratio("CPU/lib=%s/way=%s/n="+fmt.Sprint(n), base)
		}
	}
	for _, way := range []string{"tpsl", "dlmopen"} {
		name := fmt.Sprintf("Limit/lib=%s/way=%s", library, way)
		all = append(all, report.Goal{What: name, Name: name})
	}
	return all
}
