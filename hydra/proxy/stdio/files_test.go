// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
)

// Errors of files that cannot be closed come in the order of the names of the files.
func TestCloseFilesInOrder(t *testing.T) {
	var sent bytes.Buffer
	trunk := channel.New(bytes.NewReader(nil), nopCloser{&sent})
	o := NewOutput(plan.Host{Name: "here"}, trunk.Conn(0), time.Now())
	o.files = map[string]*outFile{}
	var want []string
	for i := range 9 {
		name := filepath.Join(t.TempDir(), fmt.Sprint(i))
		f, err := os.Create(name)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		o.files[name] = &outFile{file: f}
		want = append(want, fmt.Sprintf("close output file %s on here: %v", name, &os.PathError{Op: "close", Path: name, Err: os.ErrClosed}))
	}
	o.CloseFiles()
	trunk.Close()
	<-trunk.Sent()
	reader := channel.New(&sent, nopCloser{io.Discard})
	defer reader.Close()
	var got []string
	for range want {
		frame, err := reader.Receive()
		require.NoError(t, err)
		assert.Equal(t, channel.Failed, frame.Kind)
		got = append(got, string(frame.Body))
	}
	assert.Equal(t, want, got)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
