// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"time"
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
	s := suite{commands: [][]string{cc("gcc", "copies"), append(cc("bin/tpslcc", "copies"), "-DTPSL")}}
	plain, ours := program("copies", "gcc"), program("copies", "tpslcc")
	for _, w := range works {
		file := filepath.Join("build", "bench", "lib"+w.name+".so")
		s.commands = append(s.commands, append([]string{w.compiler, "-O2", "-shared", "-fPIC",
			filepath.Join("examples", "hostile", w.source), "-o", file}, w.flags...))
		sides := []side{
			{argv: []string{ours, "tpsl", w.name, file}},
			{argv: []string{plain, "processes", w.name, file}},
			{argv: []string{ours, "limit-tpsl", w.name, file}},
			{argv: []string{plain, "limit-dlmopen", w.name, file}},
		}
		bases := []string{"processes"}
		if w.dlmopen {
			sides = append(sides, side{argv: []string{plain, "dlmopen", w.name, file}})
			bases = append(bases, "dlmopen")
		}
		s.contests = append(s.contests, contest{30 * time.Second, sides})
		s.goals = append(s.goals, compared(w.name, bases)...)
	}
	return s
}

// compared are the ratios to look at for one library.
func compared(library string, bases []string) (all []goal) {
	ratio := func(what, base string) {
		name := func(way string) string { return fmt.Sprintf(what, library, way) }
		all = append(all, goal{what: name("tpsl/" + base), name: name("tpsl"), base: name(base)})
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
		all = append(all, goal{what: name, name: name})
	}
	return all
}
