// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// A run is one repetition, as the record has it.
type run struct {
	Time     time.Time // of its begin
	Took     time.Duration
	Commit   string
	Whole    bool // it had all packages
	Packages map[string]result
	Failures []failure `json:",omitempty"`
}

type result struct{ Tests int }

// A failure is that of a test that has no failing subtest, or of a package without a failing test.
type failure struct{ Package, Test, Log string }

func (f failure) name() string { return strings.TrimSpace(f.Package + " " + f.Test) }

const module = "github.com/tpsl/tpsl/"

// An event is a line of go test -json: see go doc test2json.
type event struct {
	Time                                      time.Time
	Action, Package, ImportPath, Test, Output string
	FailedBuild                               string
}

// readEvents makes a run of go test's events. A run that was broken off is none.
func readEvents(events io.Reader) (run, error) {
	r := run{Packages: map[string]result{}}
	logs := map[failure]string{} // by Package and Test
	builds := map[string]string{}
	ends := map[failure]string{}
	end := func(key failure, how string) {
		if ends[key] != "fail" { // the tests of a package may run in several parts
			ends[key] = how
		}
	}
	var last time.Time
	decoder := json.NewDecoder(events)
	for {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return r, fmt.Errorf("go test's events: %w", err)
		}
		// Events of tests that ran side by side may stand one after the other.
		if !e.Time.IsZero() && (r.Time.IsZero() || e.Time.Before(r.Time)) {
			r.Time = e.Time
		}
		if e.Time.After(last) {
			last = e.Time
		}
		key := failure{Package: strings.TrimPrefix(e.Package, module), Test: e.Test}
		switch e.Action {
		case "start", "run":
			end(key, "")
		case "output":
			if e.Test == "" && strings.HasSuffix(e.Output, "\t(cached)\n") {
				return r, fmt.Errorf("the tests of %s did not run: go test had their results of another time; say -count 1", key.Package)
			}
			logs[key] += e.Output
		case "build-output":
			builds[e.ImportPath] += e.Output
		case "pass", "fail", "skip":
			end(key, e.Action)
			logs[key] += builds[e.FailedBuild]
			if e.Action != "fail" && e.Test != "" {
				delete(logs, key)
			}
		}
	}
	if len(ends) == 0 {
		return r, errors.New("no package was tested")
	}
	r.Took = last.Sub(r.Time)
	for key, end := range ends {
		if key.Test == "" && end == "" {
			return r, fmt.Errorf("the tests of %s did not come to their end; the run does not count", key.Package)
		}
		p := r.Packages[key.Package]
		if key.Test != "" {
			p.Tests++
		}
		r.Packages[key.Package] = p
	}
	for key, end := range ends {
		if end == "" { // its package failed before it came to its end
			ends[key] = "fail"
		}
	}
	r.Failures = failures(ends, logs)
	return r, nil
}

func failures(ends, logs map[failure]string) (found []failure) {
	for key, end := range ends {
		if end != "fail" || slices.ContainsFunc(slices.Collect(maps.Keys(ends)), func(other failure) bool { return below(other, key) && ends[other] == "fail" }) {
			continue
		}
		found = append(found, failure{key.Package, key.Test, short(portable(logs[key]))})
	}
	slices.SortFunc(found, func(a, b failure) int { return strings.Compare(a.name(), b.name()) })
	return found
}

// below tells whether a is a test of b.
func below(a, b failure) bool {
	return a.Package == b.Package && a.Test != b.Test && (b.Test == "" || strings.HasPrefix(a.Test, b.Test+"/"))
}

// portable takes out of a log where the tree and the user's files are on this machine.
func portable(log string) string {
	if tree, err := os.Getwd(); err == nil {
		log = strings.ReplaceAll(log, tree+"/", "")
	}
	if home, err := os.UserHomeDir(); err == nil {
		log = strings.ReplaceAll(log, home+"/", "~/")
	}
	return log
}

// short leaves the middle of a long log out: what the test says comes first, how it ended last.
func short(log string) string {
	const head, tail = 20_000, 10_000
	if len(log) <= head+tail {
		return log
	}
	return log[:head] + fmt.Sprintf("\n[... %d bytes ...]\n", len(log)-head-tail) + log[len(log)-tail:]
}
