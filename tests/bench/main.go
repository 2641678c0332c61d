// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures thread ranks against today's two ways, flat and
// threaded MPI, and our mpiexec against mpiexec.hydra.
//
//	go run ./tests/bench [-quick] [-runs N] [-out FILE] [-check]
//
// It runs in the repository's root folder, builds what it needs, and prints a
// header about the machine, Go benchmark lines (for benchstat), and a table of
// ratios with median and 95 % interval against the goals. The sides of a
// comparison take turns, so that a change of the machine's mood meets all.
//
// A C program of this folder prints its own benchmark lines after checking its
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
	check := flag.Bool("check", false, "exit with 1 if a goal is missed")
	flag.Parse()
	if *quick {
		*runs = 6
	}
	missed, err := bench(*runs, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if *check && missed > 0 {
		fmt.Fprintf(os.Stderr, "bench: %d goals missed\n", missed)
		os.Exit(1)
	}
}

// bench runs all contests and returns the number of goals that were missed.
func bench(runs int, out string) (missed int, err error) {
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
	if err := compile(); err != nil {
		return 0, err
	}
	if err := describeMachine(w); err != nil {
		return 0, err
	}
	found := results{}
	for _, c := range contests() {
		if err := c.run(w, runs, found); err != nil {
			return 0, err
		}
	}
	return report(w, found, goals), nil
}

const folder = "tests/bench"

func hasMicro() bool {
	_, err := os.Stat(filepath.Join(folder, "micro.c"))
	return err == nil
}

// program returns the path of a C benchmark as built by compiler.
func program(name, compiler string) string {
	return filepath.Join("build", "bench", name+"-"+compiler)
}

// compile makes the system, and each C program flat and with thread ranks.
func compile() error {
	if _, err := os.Stat(folder); err != nil {
		return fmt.Errorf("run it in the repository's root folder: %w", err)
	}
	if err := os.MkdirAll("build/bench", 0o777); err != nil {
		return err
	}
	commands := [][]string{{"make", "-s", "all"}}
	for _, name := range []string{"latency", "bandwidth", "startup"} {
		commands = append(commands, cc("mpicc.mpich", name), cc("bin/tpslcc", name))
	}
	if hasMicro() {
		commands = append(commands, cc("bin/tpslcc", "micro"))
	}
	for _, c := range commands {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(c, " "), err, out)
		}
	}
	return nil
}

func cc(compiler, name string) []string {
	return []string{compiler, "-fopenmp", "-O2", filepath.Join(folder, name+".c"), "-o", program(name, filepath.Base(compiler))}
}
