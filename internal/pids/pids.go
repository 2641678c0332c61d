// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pids

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/internal/flags"
)

// ErrNone is Parse's error where no id is given.
var ErrNone = errors.New("no PID given")

// Parse reads options, and as ids what is left. No id is an error.
func Parse(set *flag.FlagSet, args []string) (ids []int, err error) {
	for {
		if err := flags.Parse(set, args); err != nil {
			return nil, err
		}
		if args = set.Args(); len(args) == 0 {
			break
		}
		more, err := List(args[0])
		if err != nil {
			return nil, err
		}
		ids, args = append(ids, more...), args[1:]
	}
	if len(ids) == 0 {
		return nil, ErrNone
	}
	return ids, nil
}

// List reads ids with commas between them.
func List(words string) (ids []int, err error) {
	for word := range strings.SplitSeq(words, ",") {
		pid, err := strconv.Atoi(word)
		if err != nil || pid <= 0 {
			return nil, fmt.Errorf("%s is no PID", word)
		}
		ids = append(ids, pid)
	}
	return ids, nil
}
