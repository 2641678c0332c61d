// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package importlib

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/soname"
)

// Folder returns the folder of the import library for an ABI, in an installation.
func Folder(prefix string, abi mpilib.ABI) string {
	if abi == mpilib.Standard {
		return filepath.Join(prefix, "lib", "tpsl", "abi")
	}
	return filepath.Join(prefix, "lib")
}

// StandIns returns the names of the stand-ins that a program with an ABI is linked with.
func StandIns(abi mpilib.ABI) []string {
	if abi == mpilib.Standard {
		return []string{soname.StandardABI}
	}
	return soname.MPI
}

// write makes the import library and the stand-ins for the programs of an ABI.
func write(prefix string, abi mpilib.ABI, o offer) error {
	if err := link(filepath.Join(Folder(prefix, abi), "libtpsl.so"), o.importLibrary(), "-Wl,-soname,"+soname.Libtpsl); err != nil {
		return err
	}
	// libtpsl keeps addresses in a stand-in (nodelete). ld.so searches a stand-in's libtpsl first (DT_AUXILIARY), where the MPI library would have been.
	for _, name := range StandIns(abi) {
		err := link(filepath.Join(prefix, "lib", "tpsl", name), o.standIn(), "-Wl,-soname,"+name,
			"-Wl,--auxiliary="+soname.Libtpsl, "-Wl,-rpath,$ORIGIN/..", "-Wl,--enable-new-dtags", "-Wl,-z,nodelete")
		if err != nil {
			return err
		}
	}
	return nil
}

// link makes a shared library of assembly text. A library that is the same already only becomes newer, because programs
// may be starting with it. Another one takes its place in one step.
func link(path, text string, flags ...string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	made, err := assemble(filepath.Dir(path), text, flags)
	if err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	defer os.Remove(made)
	have, _ := os.ReadFile(path)
	if want, err := os.ReadFile(made); err == nil && bytes.Equal(have, want) {
		now := time.Now()
		return os.Chtimes(path, now, now)
	}
	return os.Rename(made, path)
}

// assemble returns the name of a shared library that it makes in a folder.
func assemble(folder, text string, flags []string) (string, error) {
	out, err := os.CreateTemp(folder, ".made*")
	if err != nil {
		return "", err
	}
	out.Close()
	compiler := strings.Fields(os.Getenv("CC"))
	if len(compiler) == 0 {
		compiler = []string{"cc"}
	}
	arguments := append(compiler[1:], "-shared", "-nostdlib", "-Wl,--build-id=none", "-x", "assembler", "-", "-o", out.Name())
	cc := exec.Command(compiler[0], append(arguments, flags...)...)
	cc.Stdin = strings.NewReader(text)
	if said, err := cc.CombinedOutput(); err != nil {
		os.Remove(out.Name())
		first, _, _ := strings.Cut(string(said), "\n")
		return "", fmt.Errorf("%s: %w: %s", compiler[0], err, first)
	}
	return out.Name(), os.Chmod(out.Name(), 0o755)
}
