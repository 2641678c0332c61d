// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package dlcases

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const limit = 2 * time.Minute

// Build compiles a case in a folder, which is to be the working directory of who runs it,
// and returns a program that runs the script that it is given, and the library, with run of driver.c, that it
// consists of.
func (c Case) Build(t testing.TB, folder string) (program, driver string) {
	t.Helper()
	testsupport.Require(t, "gcc")
	b := builder{t, c, folder, map[string]bool{}}
	for _, l := range c.Libraries {
		b.library(l)
	}
	own := filepath.Join(testsupport.Root(t), "internal", "testsupport", "dlcases")
	driver, program = filepath.Join(folder, "libdriver.so"), filepath.Join(folder, "program")
	b.compile(driver, filepath.Join(own, "driver.c"), c.Rpath, append(b.needs(c.Needs), "-shared", "-Wl,-soname,libdriver.so")...)
	b.compile(program, filepath.Join(own, "program.c"), "", append(b.needs(c.Program), driver, "-pie", "-fPIE")...)
	return program, driver
}

type builder struct {
	testing.TB
	of     Case
	folder string
	built  map[string]bool // by file
}

// needs builds libraries of the case, and returns the flags that link with them.
func (b builder) needs(names []string) (flags []string) {
	for _, name := range names {
		for _, l := range b.of.Libraries {
			if l.Name == name {
				b.library(l)
				flags = append(flags, b.file(l))
			}
		}
	}
	return flags
}

func (b builder) file(l Library) string {
	return filepath.Join(b.folder, l.In, "lib"+l.Name+".so")
}

// compile links so that all is bound at once, and is found in the case's folder, or by a DT_RPATH.
func (b builder) compile(to, source, rpath string, flags ...string) {
	b.Helper()
	find := []string{"-Wl,--enable-new-dtags", "-Wl,-rpath," + b.folder}
	if rpath != "" {
		find = []string{"-Wl,--disable-new-dtags", "-Wl,-rpath," + rpath}
	}
	argv := append([]string{"gcc", "-O1", "-fPIC", "-fno-builtin", "-Wl,--no-as-needed", source, "-o", to}, flags...)
	argv = append(argv, "-Wl,--allow-shlib-undefined", "-Wl,-z,undefs", "-Wl,-z,now", "-L"+b.folder)
	argv = append(argv, find...)
	_, stderr, code := testsupport.Run(b, limit, nil, argv...)
	if code != 0 {
		b.Fatal(stderr)
	}
}

func (b builder) library(l Library) {
	b.Helper()
	if b.built[b.file(l)] {
		return
	}
	b.built[b.file(l)] = true
	if err := os.MkdirAll(filepath.Join(b.folder, l.In), 0o777); err != nil {
		b.Fatal(err)
	}
	source := b.file(l) + ".c"
	if err := os.WriteFile(source, []byte(l.text()), 0o600); err != nil {
		b.Fatal(err)
	}
	flags := append(b.needs(l.Needs), "-shared", "-Wl,-soname,lib"+l.Name+".so")
	if len(l.Changed) > 0 {
		versions := b.file(l) + ".map"
		if err := os.WriteFile(versions, []byte("V1 { };\nV2 { } V1;\n"), 0o600); err != nil {
			b.Fatal(err)
		}
		flags = append(flags, "-Wl,--version-script,"+versions)
	}
	b.compile(b.file(l), source, l.Rpath, flags...)
}

// text is the library's source.
func (l Library) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "#define _GNU_SOURCE\n#include <dlfcn.h>\n")
	fmt.Fprintf(&s, "void note(const char *) __attribute__((weak));\n")
	fmt.Fprintf(&s, "__attribute__((constructor)) static void start(void) { if (note) note(%q); }\n", l.Name)
	fmt.Fprintf(&s, "void *%s_dlsym(void *handle, const char *name) { void *volatile found = dlsym(handle, name); return found; }\n", l.Name)
	fmt.Fprintf(&s, "void *%s_dlopen(const char *name, int flags) { void *volatile opened = dlopen(name, flags); return opened; }\n", l.Name)
	for _, f := range l.Defines {
		fmt.Fprintf(&s, "const char *%s(void) { return %q; }\n", f, l.Name)
	}
	for _, f := range l.Changed {
		for i, age := range []string{"older", "newer"} {
			fmt.Fprintf(&s, "const char *%s_%s(void) { return %[2]q; }\n__asm__(\".symver %[1]s_%[2]s, %[1]s%[3]s\");\n", f, age, []string{"@V1", "@@V2"}[i])
		}
	}
	for _, f := range l.Unique {
		fmt.Fprintf(&s, "const char *unique_%s = %q;\n__asm__(\".type unique_%[1]s, @gnu_unique_object\");\nconst char *%[1]s(void) { return unique_%[1]s; }\n", f, l.Name)
	}
	for _, f := range l.Refers {
		fmt.Fprintf(&s, "const char *%s(void) __attribute__((weak));\n", f)
		fmt.Fprintf(&s, "const char *%s_sees_%s(void) { return %[2]s ? %[2]s() : \"nothing\"; }\n", l.Name, f)
	}
	return s.String()
}
