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
	ErrDenied      = errors.New("counting in the kernel takes CAP_BPF and CAP_PERFMON: run it as root (in a container: --cap-add BPF --cap-add PERFMON)")
	ErrUnsupported = errors.New("this kernel cannot count for us")
)

// lockdown is where the kernel says whether it keeps its memory from root, too.
const lockdown = "/sys/kernel/security/lockdown"

// refusal is an error in words of our own. What the kernel and the library said is behind it for errors.Is only: they
// name a system call and guess at limits of memory, which does not help who reads it.
type refusal struct {
	kind   error // ErrDenied or ErrUnsupported
	text   string
	behind error
}

func (r *refusal) Error() string   { return r.text }
func (r *refusal) Unwrap() []error { return []error{r.kind, r.behind} }

// explain says why counting could not begin.
func explain(err error, lockdown string) error {
	switch {
	case errors.Is(err, unix.EPERM) && lockedDown(lockdown):
		text := fmt.Sprintf("%v, since it is locked down (%s): boot it without lockdown=confidentiality", ErrUnsupported, lockdown)
		return &refusal{ErrUnsupported, text, err}
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return &refusal{ErrDenied, ErrDenied.Error(), err}
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
