// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Errors of Start.
var (
	ErrDenied      = errors.New("counting in the kernel takes CAP_BPF and CAP_PERFMON")
	ErrUnsupported = errors.New("this kernel cannot count for us")
)

// lockdown is where the kernel says whether it keeps its memory from root, too.
const lockdown = "/sys/kernel/security/lockdown"

// explain says why counting could not begin.
func explain(err error, lockdown string) error {
	switch {
	case errors.Is(err, unix.EPERM) && lockedDown(lockdown):
		return fmt.Errorf("%w, since it is locked down (%s): %w", ErrUnsupported, lockdown, err)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("%w: %w", ErrDenied, err)
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.EINVAL):
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	default:
		return err
	}
}

// lockedDown tells whether programs may not read the kernel's memory (kernel_lockdown(7)).
func lockedDown(file string) bool {
	text, _ := os.ReadFile(file) // a kernel without lockdown has no such file
	return bytes.Contains(text, []byte("[confidentiality]"))
}
