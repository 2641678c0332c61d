// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package crew

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/match"
)

// Options say what a crew is made of.
type Options struct {
	Ranks   int // ports of this process
	Mates   int // threads that share a port
	Model   string
	Matcher string
	As      string // what a thread is
}

// Values of Options.As.
const (
	goroutines = "goroutines"
	osThreads  = "os"
	userLevel  = "fult"
)

var kinds = []string{goroutines, osThreads, userLevel}

// Flags adds the crew's options to a command's.
func (o *Options) Flags(set *flag.FlagSet) {
	set.IntVar(&o.Ranks, "threads", 4, "`number` of ports of each process, each with a thread")
	set.StringVar(&o.Model, "model", engine.Private.String(), "thread-safety `model` of the ports: "+names(engine.Models()))
	set.StringVar(&o.Matcher, "matcher", match.HashTable.String(), "`matcher` of the ports: "+names(match.Kinds))
	set.StringVar(&o.As, "threads-as", goroutines, "what a thread is: "+strings.Join(kinds, ", "))
}

func names[T fmt.Stringer](all []T) string {
	words := make([]string, len(all))
	for i, v := range all {
		words[i] = v.String()
	}
	return strings.Join(words, ", ")
}

// find returns the value with a name.
func find[T fmt.Stringer](all []T, option, name string) (T, error) {
	for _, v := range all {
		if v.String() == name {
			return v, nil
		}
	}
	var none T
	return none, fmt.Errorf("-%s %s: there are %s", option, name, names(all))
}

// Check tells what is wrong with the options.
func (o Options) Check() error {
	_, err := o.ports()
	return err
}

// ports returns what the crew's ports are like.
func (o Options) ports() (ports engine.Options, err error) {
	model, err := find(engine.Models(), "model", o.Model)
	if err != nil {
		return ports, err
	}
	matcher, err := find(match.Kinds, "matcher", o.Matcher)
	switch {
	case err != nil:
		return ports, err
	case o.Ranks < 1:
		return ports, fmt.Errorf("-threads %d: needs at least one", o.Ranks)
	case o.Mates > 1 && model == engine.Private:
		return ports, fmt.Errorf("-model %s: a port that threads share needs another, such as global", o.Model)
	case !slices.Contains(kinds, o.As):
		return ports, fmt.Errorf("-threads-as %s: there are %s", o.As, strings.Join(kinds, ", "))
	case o.As == userLevel && model != engine.Private:
		return ports, fmt.Errorf("-threads-as %s: takes -model %s, since a worker owns its threads' ports", o.As, engine.Private)
	}
	return engine.Options{Ports: o.Ranks, Model: model, Matcher: matcher}, nil
}

// Keys returns the options as keys of the name of a benchmark of a crew.
func (o Options) Keys(is Outcome) string {
	processes := ""
	if n := is.Ranks / o.Ranks; n > 1 {
		processes = fmt.Sprintf("processes=%d/", n)
	}
	return fmt.Sprintf("%sthreads=%d/mates=%d/model=%s/matcher=%s/as=%s", processes, o.Ranks, max(o.Mates, 1), o.Model, o.Matcher, o.As)
}

// Main runs a command: run does what the arguments say.
func Main(name string, run func(args []string, stdout io.Writer) error) {
	err := run(os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
