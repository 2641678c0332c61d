// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"io/fs"
)

// An output is the standard output of a command, which need not know whether it can be written: run says so after the command has
// ended. What comes after a failure is thrown away.
type output struct {
	to     io.Writer
	failed func() // called at the first failure
	err    error  // of the first failure
}

// Write implements io.Writer. It never fails.
func (o *output) Write(text []byte) (int, error) {
	if o.err == nil {
		if _, o.err = o.to.Write(text); o.err != nil {
			o.failed()
		}
	}
	return len(text), nil
}

// why returns the reason of the failure, without the name that the system has for the output; nil: there was none.
func (o *output) why() error {
	var of *fs.PathError
	if errors.As(o.err, &of) {
		return of.Err
	}
	return o.err
}
