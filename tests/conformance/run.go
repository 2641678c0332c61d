// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// How a run ended.
const (
	pass     = "pass"
	fail     = "fail"
	hang     = "no end" // within the limit
	notBuilt = "not built"
)

// A result is what became of one test.
type result struct {
	test
	flat, ours               string
	flatSeconds, oursSeconds float64
	note                     string // first odd line of the output, of the mode that is not flat first
}

// runOnce runs a test in a folder that has nothing but the program, which some tests spawn. It returns how the
// test ended, the seconds that it took, and what was wrong with it.
func runOnce(program string, t test, options ...string) (status string, seconds float64, note string) {
	folder, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return fail, 0, err.Error()
	}
	defer os.RemoveAll(folder)
	if err := os.Symlink(program, filepath.Join(folder, filepath.Base(program))); err != nil {
		return fail, 0, err.Error()
	}
	mpiexec, err := filepath.Abs("bin/mpiexec")
	if err != nil {
		return fail, 0, err.Error()
	}
	command := append([]string{"env", "-C", folder, mpiexec, "-banner", "hydra", "-n", strconv.Itoa(t.ranks)}, options...) // a crash reads the same in each run
	command = append(append(command, program), t.args...)
	env := append([]string{fmt.Sprintf("MPIEXEC_TIMEOUT=%.0f", t.limit.Seconds())}, t.env...)

	start := time.Now()
	stdout, stderr, code, err := testsupport.Output(t.limit+20*time.Second, env, command...)
	seconds = time.Since(start).Seconds()
	if errors.Is(err, testsupport.ErrTimeout) {
		return hang, seconds, "mpiexec did not end the job at its time limit"
	}
	if err != nil {
		return fail, seconds, err.Error()
	}
	wrong := judge(t.judge, stdout+stderr, code)
	switch {
	case wrong == "":
		return pass, seconds, ""
	case seconds >= t.limit.Seconds():
		return hang, seconds, wrong
	}
	return fail, seconds, wrong
}

var (
	noErrors = regexp.MustCompile(`(?m)^\s*No [Ee]rrors\s*$`)
	harmless = regexp.MustCompile(`^\s*(No [Ee]rrors|Test Passed)?\s*$`)
)

var frame = regexp.MustCompile(`(?m)^=+$\n?`) // of mpiexec's exit report

// judge returns what is wrong with a run, by the rules of the suite's runtests.
func judge(rule, output string, code int) string {
	if rule == "TestErrFatal" || rule == "TestStatus" {
		if code == 0 {
			return "exit status 0, not another"
		}
		return ""
	}
	for _, line := range strings.Split(frame.ReplaceAllString(output, ""), "\n") {
		if !harmless.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	switch {
	case len(noErrors.FindAllString(output, -1)) != 1:
		return "does not say No Errors once"
	case rule == "" && code != 0:
		return fmt.Sprintf("exit status %d", code)
	case rule == "TestStatusNoErrors" && code == 0:
		return "exit status 0, not another"
	}
	return ""
}
