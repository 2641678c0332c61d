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
