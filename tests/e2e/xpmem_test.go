// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// xpmemJob runs the program with a library that uses XPMEM. useless puts a library of XPMEM beside it that finds no device.
func xpmemJob(t *testing.T, options, program, uses string, useless bool) outcome {
	t.Helper()
	testsupport.NothingLeft(t)
	env := []string{"OMP_NUM_THREADS=1"}
	if strings.Contains(options, "shared") {
		env[0] = "OMP_NUM_THREADS=" + options[len(options)-1:]
	}
	if useless {
		folder := t.TempDir()
		require.NoError(t, os.Symlink(noXPMEM(t), filepath.Join(folder, "libxpmem.so.0")))
		env = append(env, "LD_LIBRARY_PATH="+folder)
	}
	return mpiexec(t, env, options, program, uses)
}

func noXPMEM(t *testing.T) string {
	t.Helper()
	return library(t, "no_xpmem", "-Wl,-soname,libxpmem.so.0")
}

// Ranks of one address space attach each other's memory by XPMEM's functions. A child of fork, whose memory is its own, hears an error.
func TestXPMEM(t *testing.T) {
	if _, err := os.Stat("/dev/xpmem"); err == nil {
		t.Skip("the host has XPMEM, whose own library is used then")
	}
	attach := library(t, "attach", noXPMEM(t))
	programs := map[string]string{
		"shared":  fixture(t, "attaches"),
		"private": plain(t, "mpicc.mpich", "attaches.c"),
		"needed":  plain(t, "mpicc.mpich", "attaches.c", "-Wl,--no-as-needed", attach, "-Wl,--allow-shlib-undefined"),
	}
	for _, c := range []struct {
		program, options string
		useless          bool
	}{
		{"shared", "-n 4 -tpsl shared -rpp 4", false},
		{"shared", "-n 2 -tpsl shared -rpp 2", true},
		{"private", "-n 4 -rpp 4", false},
		{"private", "-n 2 -rpp 2", true},
		{"needed", "-n 2 -rpp 2", true},
	} {
		t.Run(fmt.Sprintf("%s %s %t", c.program, c.options, c.useless), func(t *testing.T) {
			job := xpmemJob(t, c.options, programs[c.program], attach, c.useless).succeeded(t)
			ranks := int(c.options[3] - '0')
			var want []string
			for rank := range ranks {
				want = append(want, fmt.Sprintf("rank %d: read %d, written by %d, child: No such file or directory, left 1, wrong step 0\n", rank, (rank+1)%ranks, (rank+ranks-1)%ranks))
			}
			assert.Equal(t, want, job.lines())
		})
	}
}

// Where ranks of the host are in several address spaces, XPMEM's own library is used, if there is one.
func TestXPMEMOfSeveralProcesses(t *testing.T) {
	if _, err := os.Stat("/dev/xpmem"); err == nil {
		t.Skip("the host has XPMEM")
	}
	attach := library(t, "attach", noXPMEM(t))
	private, shared := plain(t, "mpicc.mpich", "attaches.c"), fixture(t, "attaches")
	cannot := []string{"rank 0: cannot share\n", "rank 1: cannot share\n", "rank 2: cannot share\n", "rank 3: cannot share\n"}
	assert.Equal(t, cannot, xpmemJob(t, "-n 4 -rpp 2", private, attach, true).succeeded(t).lines())
	assert.Equal(t, cannot[:2], xpmemJob(t, "-n 2", private, attach, true).succeeded(t).lines())
	assert.Equal(t, cannot, xpmemJob(t, "-n 4 -tpsl shared -rpp 2", shared, attach, true).succeeded(t).lines())
	job := xpmemJob(t, "-n 4 -tpsl shared -rpp 2", shared, attach, false).succeeded(t)
	assert.Regexp(t, `^(rank \d: .*libxpmem\.so\.0.*not found.*\n){4}$`, job.stdout)
}
