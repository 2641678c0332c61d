// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package crewtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/match"
)

const limit = 2 * time.Minute

// Each runs a test with the options of each model and matcher, and of each kind of thread.
func Each(t *testing.T, test func(t *testing.T, options []string)) {
	for _, model := range engine.Models() {
		for _, matcher := range match.Kinds {
			one(t, test, 4, model.String(), matcher.String(), "goroutines")
		}
		one(t, test, 3, model.String(), "table", "os")
	}
	one(t, test, 4, "private", "table", "fult")
	one(t, test, 1, "private", "table", "goroutines")
}

// EachShared runs a test with the options of each model that lets threads share a port.
func EachShared(t *testing.T, test func(t *testing.T, options []string)) {
	for _, model := range engine.Models() {
		if model == engine.Private {
			continue
		}
		for _, matcher := range match.Kinds {
			one(t, test, 2, model.String(), matcher.String(), "goroutines")
		}
		one(t, test, 2, model.String(), "table", "os")
	}
}

func one(t *testing.T, test func(t *testing.T, options []string), threads int, model, matcher, as string) {
	name := fmt.Sprintf("threads=%d/model=%s/matcher=%s/as=%s", threads, model, matcher, as)
	t.Run(name, func(t *testing.T) {
		watch := time.AfterFunc(limit, func() { panic(name + ": no end in time") })
		defer watch.Stop()
		test(t, []string{"-threads", fmt.Sprint(threads), "-model", model, "-matcher", matcher, "-threads-as", as})
	})
}
