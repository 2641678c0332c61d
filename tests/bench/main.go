// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures thread ranks against today's two ways, flat and
// threaded MPI, and our mpiexec against mpiexec.hydra.
//
//	go run ./tests/bench [-copies] [-quick] [-runs N] [-out FILE] [-check]
//
// It runs in the repository's root folder, builds what it needs, and prints a
// header about the machine, Go benchmark lines (for benchstat), and a table of
// ratios with median and 95 % interval against the goals. The sides of a
// comparison take turns, so that a change of the machine's mood meets all.
//
// With -copies it measures something else: private copies of libraries that are not made
// for threads (examples/hostile, whose packages it needs), against processes and dlmopen.
//
// A C program of the folder programs prints its own benchmark lines after checking its
// answers. micro.c, where it is present, measures the runtime itself.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	runs := flag.Int("runs", 10, "runs of each side")
	quick := flag.Bool("quick", false, "six runs of each side, the fewest that give an interval")
	out := flag.String("out", "", "also write everything to this `file`")
	other := flag.Bool("copies", false, "measure copies of libraries instead of MPI")
	check := flag.Bool("check", false, "exit with 1 if a goal is missed")
	flag.Parse()
	if *quick {
		*runs = 6
	}
	measured := mpi
	if *other {
		measured = copies
	}
	missed, err := bench(measured, *runs, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if *check && missed > 0 {
		fmt.Fprintf(os.Stderr, "bench: %d goals missed\n", missed)
		os.Exit(1)
	}
}

// A suite is what one run of the command measures.
type suite struct {
	commands [][]string // that build its programs, when the system is built
	contests []contest
	goals    []goal
}

// bench runs all contests of a suite and returns the number of goals that were missed.
func bench(measured func() suite, runs int, out string) (missed int, err error) {
	if runs < 1 {
		return 0, fmt.Errorf("-runs %d: needs at least one", runs)
	}
	var w io.Writer = os.Stdout
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		w = io.MultiWriter(os.Stdout, f)
	}
	s := measured()
	if err := compile(s.commands); err != nil {
		return 0, err
	}
	if err := describeMachine(w); err != nil {
		return 0, err
	}
	found := results{}
	for _, c := range s.contests {
		if err := c.run(w, runs, found); err != nil {
			return 0, err
		}
	}
	return report(w, found, s.goals), nil
}

const folder = "tests/bench/programs"

func hasMicro() bool {
	_, err := os.Stat(filepath.Join(folder, "micro.c"))
	return err == nil
}

// program returns the path of a C benchmark as built by compiler.
func program(name, compiler string) string {
	return filepath.Join("build", "bench", name+"-"+compiler)
}

// compile makes the system, then what the commands make of it.
func compile(commands [][]string) error {
	if _, err := os.Stat(folder); err != nil {
		return fmt.Errorf("run it in the repository's root folder: %w", err)
	}
	if err := os.MkdirAll("build/bench", 0o777); err != nil {
		return err
	}
	for _, c := range append([][]string{{"make", "-s", "all"}}, commands...) {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(c, " "), err, out)
		}
	}
	return nil
}

// mpi measures thread ranks, each program built flat and with thread ranks.
func mpi() suite {
	s := suite{contests: contests(), goals: goals}
	for _, name := range []string{"latency", "bandwidth", "startup"} {
		s.commands = append(s.commands, cc("mpicc.mpich", name), cc("bin/tpslcc", name))
	}
	s.commands = append(s.commands, cc("gcc", "pmi"))
	if hasMicro() {
		s.commands = append(s.commands, cc("bin/tpslcc", "micro"))
	}
	return s
}

func cc(compiler, name string) []string {
	return []string{compiler, "-fopenmp", "-O2", filepath.Join(folder, name+".c"), "-o", program(name, filepath.Base(compiler))}
}
