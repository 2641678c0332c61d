// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/flags"
)

const pythonUsage = `usage: tpsl python [-n N] [-pmi MODE] [INTERPRETER]

A prompt of Python whose lines run on N ranks of one address space. Answers have
the numbers of the ranks that give them. What is piped in runs up to the first
exception.

  -n N       ranks (default 2)
  -pmi MODE  as for mpiexec: x for an mpi4py of Open MPI

INTERPRETER is python3 when not given. Ctrl-C interrupts what the ranks run; a
second one ends the job. Ctrl-D or exit() ends.
`

// runPrompt becomes the prompt, which starts the ranks by mpiexec.
func runPrompt(args []string, to streams) int {
	set := flags.New("python")
	ranks := set.Uint("n", 2, "")
	pmi := set.String("pmi", "", "")
	err := flags.Parse(set, args)
	switch {
	case errors.Is(err, flags.ErrHelp):
		fmt.Fprint(to.out, pythonUsage)
		return 0
	case err == nil && *ranks == 0:
		err = errors.New("-n 0: want a number from 1")
	case err == nil && set.NArg() > 1:
		err = fmt.Errorf("%s: the ranks run what you type; for a script use mpiexec -n %d -rpp %d", set.Arg(1), *ranks, *ranks)
	}
	if err != nil {
		fmt.Fprintf(to.err, "tpsl python: %v; try tpsl python -h\n", err)
		return exitUsage
	}
	interpreter := "python3"
	if set.NArg() == 1 {
		interpreter = set.Arg(0)
	}
	fmt.Fprintf(to.err, "tpsl python: %v\n", prompt(interpreter, int(*ranks), *pmi))
	return exitUsage
}

// prompt returns only when the prompt cannot start.
func prompt(interpreter string, ranks int, pmi string) error {
	path, err := exec.LookPath(interpreter)
	if err != nil {
		return fmt.Errorf("cannot run %s: %w", interpreter, err)
	}
	mpiexec, err := mpiexecHere(ranks)
	if err != nil {
		return err
	}
	if pmi != "" {
		mpiexec = append(mpiexec, "-pmi", pmi)
	}
	scripts := filepath.Join(filepath.Dir(mpiexec[0]), "../share/tpsl")
	args := append([]string{interpreter, filepath.Join(scripts, "prompt.py"), strconv.Itoa(ranks)}, mpiexec...)
	args = append(args, "-l", "-stdin", "all", "-tpsl", "private", interpreter, filepath.Join(scripts, "prompt-rank.py"))
	return fmt.Errorf("start %s: %w", path, unix.Exec(path, args, os.Environ()))
}
