// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Errors of Start.
var (
	ErrDenied      = errors.New("counting in the kernel takes CAP_BPF and CAP_PERFMON")
	ErrUnsupported = errors.New("this kernel cannot count for us")
)

// explain says why counting could not begin.
func explain(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("%w: %w", ErrDenied, err)
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.EINVAL):
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	default:
		return err
	}
}
