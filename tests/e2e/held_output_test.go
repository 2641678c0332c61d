// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Somebody who is not of the job holds a rank's stdout: the job ends without him, and with all that the rank has written.
func TestHeldOutput(t *testing.T) {
	testsupport.NothingLeft(t)
	job := start(t, nil, built(t, "bin/mpiexec"), "-n", "1", "sh", "-c", "echo ready; echo $$; read end; seq 5000; printf rest")
	line, err := job.out.ReadString('\n')
	require.NoError(t, err)
	rank, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	held, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", rank), os.O_WRONLY, 0)
	require.NoError(t, err)
	defer held.Close()
	require.NoError(t, job.stdin.Close())
	defer time.AfterFunc(soon, job.killAll).Stop()
	text, err := io.ReadAll(job.out)
	require.NoError(t, err)
	require.NoError(t, job.Wait(), "the job waits for output")
	require.True(t, strings.HasSuffix(string(text), "\n5000\nrest"), "output is lost")
}
