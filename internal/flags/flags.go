// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/tpsl/tpsl/internal/suggest"
)

// ErrHelp is the error of Parse where help is asked for.
var ErrHelp = flag.ErrHelp

// New returns an empty set for the tool of this name. The set writes nothing by itself.
func New(name string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	return set
}

// Parse reads args as set.Parse does. Its error names the option as the user gave it, and the option that may have been meant.
func Parse(set *flag.FlagSet, args []string) error {
	err := set.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	text := err.Error()
	if name, unknown := strings.CutPrefix(text, "flag provided but not defined: -"); unknown {
		return unknownOption(set, name)
	}
	if name, lacking := strings.CutPrefix(text, "flag needs an argument: "); lacking {
		return fmt.Errorf("%s wants a value", name)
	}
	for _, prefix := range []string{"invalid value ", "invalid boolean value "} {
		if given, invalid := strings.CutPrefix(text, prefix); invalid {
			return invalidValue(given, err)
		}
	}
	return err
}

func unknownOption(set *flag.FlagSet, name string) error {
	var known []string
	set.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	if meant := suggest.Nearest(name, known); meant != "" {
		return fmt.Errorf("unknown option -%s (did you mean -%s?)", name, meant)
	}
	return fmt.Errorf("unknown option -%s", name)
}

// invalidValue takes what package flag says behind "invalid value": the value in quotes, "for flag" or "for", the option,
// a colon, and why.
func invalidValue(given string, otherwise error) error {
	var value string
	if _, err := fmt.Sscanf(given, "%q", &value); err != nil {
		return otherwise
	}
	_, rest, _ := strings.Cut(given[len(value):], " for ")
	option, why, found := strings.Cut(strings.TrimPrefix(rest, "flag "), ": ")
	if !found {
		return otherwise
	}
	if why == "parse error" {
		why = "not a value of this option"
	}
	return fmt.Errorf("%s %s: %s", option, value, why)
}
