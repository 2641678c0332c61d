// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Debian's eztrace, two preloaded libraries that open others and stand in front of MPI and of
// threads, writes as many traces of private ranks as of flat ones.
func TestPrivateEztrace(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "eztrace")
	preload, _, code := testsupport.Run(t, time.Minute, nil, "eztrace", "-t", "mpich", "sh", "-c", "echo -n $LD_PRELOAD")
	require.Zero(t, code)
	own := testsupport.CC(t, "gcc", "testdata/wrapped.c", "-shared", "-fPIC", "-DLIBRARY")
	program := testsupport.CC(t, "mpicc.mpich", "testdata/wrapped.c", "-DMPI", own, "-Wl,-rpath,"+filepath.Dir(own), "-pthread")
	traces := func(options string) (files []string) {
		folder := t.TempDir()
		job := mpiexec(t, nil, options+" -genv LD_PRELOAD "+preload+" -genv EZTRACE_TRACE mpich -genv EZTRACE_TRACE_DIR "+folder, program).succeeded(t)
		assert.Len(t, job.lines(), 6, job.stdout)
		err := fs.WalkDir(os.DirFS(folder), ".", func(path string, _ fs.DirEntry, err error) error {
			files = append(files, regexp.MustCompile(`^\w+_trace`).ReplaceAllString(path, "trace"))
			return err
		})
		require.NoError(t, err)
		return files
	}
	want := traces("-n 2")
	assert.Contains(t, want, "trace/eztrace_log/1.evt")
	assert.Equal(t, want, traces("-n 2 -rpp 2"))
}
