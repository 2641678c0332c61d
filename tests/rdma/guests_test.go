// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/rdma/guest"
)

// limit bounds every command in a guest, which has half a processor that is emulated.
const limit = 3 * time.Minute

func TestMain(m *testing.M) {
	testsupport.ClearEnvironment()
	code := m.Run()
	for _, stop := range stops {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// stops end the groups that were started.
var stops []func() error

// groups boot when first asked for: one guest, two guests; both with two rails.
var groups = map[int]func() (*guest.Group, error){1: boot(1), 2: boot(2)}

func boot(n int) func() (*guest.Group, error) {
	return sync.OnceValues(func() (*guest.Group, error) {
		g, err := guest.Start(context.Background(), guest.Options{Guests: n, Rails: 2})
		if err == nil {
			stops = append(stops, g.Stop)
		}
		return g, err
	})
}

// guests returns the shared group of n guests. Ask before testsupport.NothingLeft, which else finds it left behind.
func guests(t testing.TB, n int) *guest.Group {
	t.Helper()
	testsupport.Limit(t, 2*limit)
	testsupport.Require(t, "qemu-system-x86_64", "busybox", "xz", "apt-get", "dpkg", "rdma", "sshd")
	g, err := groups[n]()
	require.NoError(t, err)
	return g
}

// in runs a command in guest 0 or 1 to its end.
func in(t testing.TB, g *guest.Group, number int, env []string, argv ...string) guest.Result {
	t.Helper()
	ctx, cancel := testsupport.WithLimit(context.Background(), limit)
	defer cancel()
	r, err := g.Run(ctx, number, env, argv...)
	require.NoError(t, err, "stdout:\n%s\nstderr:\n%s", r.Stdout, r.Stderr)
	return r
}

// mpiexec runs a job of our launcher from guest a. options are words as a user types them.
func mpiexec(t testing.TB, g *guest.Group, env []string, options string, program ...string) guest.Result {
	t.Helper()
	command := filepath.Join(testsupport.Build(t), "bin", "mpiexec")
	return in(t, g, 0, env, slices.Concat([]string{command}, strings.Fields(options), program)...)
}

// verbs are the settings by which all ranks talk over reliable connections of the first device, those of one guest too.
func verbs(more ...string) []string {
	return append(guest.UCX("UCX_TLS=rc,ud,self", "UCX_NET_DEVICES=rxe0:1", "MPIR_CVAR_NOLOCAL=1"), more...)
}

// example compiles a program of examples/.
func example(t testing.TB, name string) string {
	t.Helper()
	return testsupport.CC(t, "tpslcc", "../../examples/"+name+".c", "-fopenmp", "-O2")
}
