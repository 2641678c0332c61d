// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What a kernel says that will not, or cannot, count.
func TestExplain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lockdown")
	for _, c := range []struct {
		err      error
		lockdown string
		want     error
	}{
		{unix.EPERM, "", ErrDenied},
		{unix.EACCES, "[none] integrity confidentiality\n", ErrDenied},
		{unix.EPERM, "none [integrity] confidentiality\n", ErrDenied},
		{unix.EPERM, "none integrity [confidentiality]\n", ErrUnsupported},
		{unix.ENOSYS, "", ErrUnsupported}, // a kernel without bpf(2)
		{unix.EINVAL, "", ErrUnsupported},
		{fs.ErrNotExist, "", ErrUnsupported}, // without BTF
		{ebpf.ErrNotSupported, "", ErrUnsupported},
		{unix.EMFILE, "", unix.EMFILE},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.lockdown), 0o600))
		err := explain(fmt.Errorf("load: %w", c.err), file)
		assert.ErrorIs(t, err, c.want, "%v %s", c.err, c.lockdown)
		assert.ErrorIs(t, err, c.err)
	}
	assert.ErrorIs(t, explain(unix.EPERM, filepath.Join(file, "missing")), ErrDenied)
}

// Who may not count is told what that takes, and not what the library says of a system call.
func TestExplainInOwnWords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lockdown")
	library := fmt.Errorf("map tables: map create: %w (MEMLOCK may be too low, consider rlimit.RemoveMemlock)", unix.EPERM)
	assert.EqualError(t, explain(library, file),
		"counting in the kernel takes CAP_BPF and CAP_PERFMON: run it as root (in a container: --cap-add BPF --cap-add PERFMON)")
	require.NoError(t, os.WriteFile(file, []byte("none integrity [confidentiality]\n"), 0o600))
	assert.EqualError(t, explain(library, file),
		"this kernel cannot count for us, since it is locked down ("+file+"): boot it without lockdown=confidentiality")
}
