// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// made compiles C text.
func made(t *testing.T, text string, flags ...string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "made.c")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	return testsupport.CC(t, "gcc", source, flags...)
}

// An MPICH that was built for PMIx only is linked with libpmix, and lacks the text by which ranks find a PMI session.
func TestLibraryOverPMIx(t *testing.T) {
	shared := []string{"-shared", "-fPIC", "-Wl,--no-as-needed"}
	pmix := made(t, "int PMIx_Init;", append(shared, "-Wl,-soname,libpmix.so.2")...)
	for name, c := range map[string]struct {
		text      string
		needs     []string
		speaksPMI bool
		protocol  mpilib.Protocol
	}{
		"PMIx only":    {"int PMPI_Init;", []string{pmix}, false, mpilib.PMIx},
		"PMIx and PMI": {`int PMPI_Init; const char *f(void) { return "PMI_FD"; }`, []string{pmix}, true, mpilib.UnknownProtocol},
		"neither":      {"int PMPI_Init;", nil, false, mpilib.UnknownProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			mpi := made(t, c.text, append(append(shared, "-Wl,-soname,libmpich.so.12"), c.needs...)...)
			program := made(t, "int main(void) { return 0; }", "-Wl,--no-as-needed", mpi, "-Wl,-rpath-link,"+filepath.Dir(pmix), "-Wl,--allow-shlib-undefined")
			require.NoError(t, os.Symlink(mpi, filepath.Join(folder, "libmpich.so.12")))
			require.NoError(t, os.Symlink(pmix, filepath.Join(folder, "libpmix.so.2")))
			found := libraryOf(program, plan.Program{Env: []string{"LD_LIBRARY_PATH=" + folder}, Wdir: folder, PerProcess: 1})
			assert.Equal(t, c.speaksPMI, found.SpeaksPMI)
			assert.Equal(t, c.protocol, found.protocol)
			shared := libraryOf(program, plan.Program{Env: []string{"TPSL_MPI_LIBRARY=" + mpi, "LD_LIBRARY_PATH=" + folder}, Wdir: folder, PerProcess: 2, Mode: plan.ModeShared})
			assert.Equal(t, c.protocol == mpilib.PMIx, shared.protocol == mpilib.PMIx, "thread ranks")
		})
	}
}
