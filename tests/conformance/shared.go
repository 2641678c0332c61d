// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// sharedTools make programs whose threads are ranks: bin/tpslcc with clang translates to
// LLVM's assembly language, rewrite.go gives each rank variables of its own, and
// ranks/ranks.c starts the ranks.
type sharedTools struct {
	known map[string]bool // variables that the common objects have for each rank
}

// What ranks.c does is not rewritten. The other two are libc's functions with a memory, such
// as strtok, as a rank of private mode has them.
func (*sharedTools) common() []unit {
	hidden := []string{"-D_GNU_SOURCE", "-fno-builtin", "-fvisibility=hidden"}
	return []unit{
		{source: "host/shim/getopt.c", flags: hidden},
		{source: "host/shim/statics.c", flags: hidden},
	}
}

// assembly of a unit, before it is rewritten.
func (u unit) assembly() string { return strings.TrimSuffix(u.object, ".o") + ".ll" }

func (s *sharedTools) translate(units []unit, shared bool) error {
	modules := make([]module, len(units))
	exported := maps.Clone(s.known)
	if exported == nil {
		exported = map[string]bool{}
	}
	for i, u := range units {
		text, err := u.toAssembly()
		if err != nil {
			return err
		}
		modules[i] = newModule(text)
		maps.Copy(exported, modules[i].exported)
	}
	for i, u := range units {
		text, err := modules[i].perRank(exported)
		if err != nil {
			return err
		}
		if err := u.assemble(text); err != nil {
			return err
		}
	}
	if shared {
		s.known = exported
	}
	return nil
}

// toAssembly translates as far as the optimisers, which are to know what is thread-local.
func (u unit) toAssembly() (string, error) {
	err := command(append([]string{"bin/tpslcc", "-cc=clang", "-fPIE", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes",
		u.source, "-o", u.assembly()}, u.flags...)...)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(u.assembly())
	return string(text), err
}

func (u unit) assemble(text string) error {
	if err := os.WriteFile(u.assembly(), []byte(text), 0o666); err != nil {
		return err
	}
	return command("clang", "-w", "-O1", "-fPIE", "-femulated-tls", "-c", u.assembly(), "-o", u.object)
}

func (s *sharedTools) link(program string, objects []string) error {
	line := append([]string{"bin/tpslcc", "-O1", "-fopenmp", "-o", program, filepath.Join("tests/conformance/ranks", "ranks.c")}, objects...)
	return command(append(line, "-lm")...)
}
