// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/internal/version"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/tpsl/names"
)

func lookAtInstallation(found *finder) (i Installation) {
	if self, err := os.Executable(); err == nil {
		i.Prefix = filepath.Dir(filepath.Dir(resolved(self)))
	}
	i.Packaged = field(read(filepath.Join(i.Prefix, "lib/pkgconfig/tpsl.pc")), "Version")
	i.lookAtLibtpsl(filepath.Join(i.Prefix, "lib", soname.Libtpsl))
	i.Unmet = i.unmet(found)
	i.Mpiexec = inPath("mpiexec")
	i.MpiexecKind = i.kindOfMpiexec()
	i.Tpslcc = inPath("tpslcc")
	i.TpslccIsThis = i.Tpslcc != "" && resolved(i.Tpslcc) == filepath.Join(i.Prefix, "bin", "tpslcc")
	return i
}

func (i *Installation) lookAtLibtpsl(path string) {
	m, err := image.Open(path)
	if err != nil {
		i.LibtpslError = err.Error()
		return
	}
	defer m.Close()
	i.Libtpsl = path
	missing, _ := names.Compare(functions(m))
	i.LibtpslLacks = len(missing)
	i.LibtpslIs = version.In([]byte(read(path)))
	if info, err := buildinfo.ReadFile(path); err == nil {
		i.LibtpslGo = info.GoVersion
	}
}

// resolved follows links as far as they lead.
func resolved(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

func inPath(program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	return path
}

// patience is how long an mpiexec may take to tell its version.
const patience = 5 * time.Second

// kindOfMpiexec returns kindOurs, or what a foreign mpiexec calls itself, with its
// version: "HYDRA build details 4.0.2", "mpiexec (OpenRTE) 4.1.4".
func (i *Installation) kindOfMpiexec() string {
	switch {
	case i.Mpiexec == "":
		return ""
	case resolved(i.Mpiexec) == filepath.Join(i.Prefix, "bin", "mpiexec"):
		return kindOurs
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, i.Mpiexec, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "says no version: " + err.Error()
	}
	first, rest, _ := strings.Cut(string(out), "\n")
	if second := field(strings.ReplaceAll(rest, "    Version:", "Version:"), "Version"); second != "" {
		return strings.TrimSuffix(first, ":") + " " + second
	}
	return first
}
