// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/plan"
)

// toText sets a field to any value except an empty one.
func toText(field func(*parser) *string) setter {
	return func(p *parser, v string) error {
		if v == "" {
			return fmt.Errorf("its value is empty")
		}
		*field(p) = v
		return nil
	}
}

// toParsed sets a field to the result of a function for the value.
func toParsed[T any](parse func(string) (T, error), field func(*parser) *T) setter {
	return func(p *parser, v string) (err error) {
		*field(p), err = parse(v)
		return err
	}
}

// toFlag sets a field of an option without values.
func toFlag(value bool, field func(*parser) *bool) setter {
	return func(p *parser, _ string) error {
		*field(p) = value
		return nil
	}
}

// toWord sets a field to one of several words, in upper or lower case.
func toWord(field func(*parser) *string, words ...string) setter {
	return func(p *parser, v string) error {
		word := strings.ToLower(v)
		if !slices.Contains(words, word) {
			return fmt.Errorf("%q is not one of %s", v, strings.Join(words, ", "))
		}
		*field(p) = word
		return nil
	}
}

// toCount sets a field to a number that is at least 0, or to the word auto.
func toCount(field func(*parser) *string) setter {
	return func(p *parser, v string) error {
		if n, err := strconv.Atoi(v); strings.EqualFold(v, "auto") || err == nil && n >= 0 && n <= plan.MaxRanks {
			*field(p) = strings.ToLower(v)
			return nil
		}
		return fmt.Errorf("%q is not auto or a number from 0 to %d", v, plan.MaxRanks)
	}
}

func positive(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > plan.MaxRanks {
		return 0, fmt.Errorf("%q is not a number from 1 to %d", v, plan.MaxRanks)
	}
	return n, nil
}

func parseTimeout(v string) (time.Duration, error) {
	seconds, err := strconv.ParseFloat(v, 64)
	const most = 100 * 365 * 24 * 3600
	if err != nil || !(seconds > 0 && seconds < most) {
		return 0, fmt.Errorf("%q is not a number of seconds above 0 and below %d", v, most)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// setProfile sets the files of the profile. Their endings may be given.
func setProfile(p *parser, v string) error {
	if v == "" {
		v = plan.ProfileFile
	}
	for _, ending := range []string{".json", ".html"} {
		v = strings.TrimSuffix(v, ending)
	}
	if v == "" || strings.HasSuffix(v, "/") {
		return errors.New("it names no file")
	}
	p.opts.Profile = v
	return nil
}
