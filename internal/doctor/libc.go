// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
)

// glibc returns the version and, in parentheses, what the C library calls itself.
func glibc(found *finder) string {
	path, err := found.find("libc.so.6")
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	// The banner that it prints when it is run as a program:
	// GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.
	_, text, _ = bytes.Cut(text, []byte("GNU C Library "))
	line, _, _ := bytes.Cut(text, []byte(".\n"))
	name, version, ok := strings.Cut(string(line[:min(len(line), 200)]), " stable release version ")
	if !ok {
		return ""
	}
	return version + " " + name
}

// optional are functions and variables of glibc that came with version 2.35 and that tpsl can do without.
var optional = []string{"_dl_find_object", "__rseq_offset"}

// libcLacks returns those of the optional names that the C library and ld.so lack.
func libcLacks(found *finder) []string {
	lacks := slices.Clone(optional)
	for _, name := range []string{"libc.so.6", "ld-linux-x86-64.so.2"} {
		m, err := found.open(name)
		if err != nil {
			return []string{} // not known
		}
		lacks = slices.DeleteFunc(lacks, func(wanted string) bool {
			symbol, ok := m.Lookup(wanted, "")
			return ok && symbol.Defined()
		})
		m.Close()
	}
	return lacks
}

// open opens the library that has a name.
func (f *finder) open(name string) (*image.Image, error) {
	path, err := f.find(name)
	if err != nil {
		return nil, err
	}
	return image.Open(path)
}

// unmet returns what the installed libraries need of this machine's libraries and these lack: versions of symbols, such as
// those of a glibc that is newer than this machine's.
func (i *Installation) unmet(found *finder) []string {
	lines := []string{}
	folder := filepath.Join(i.Prefix, "lib")
	for _, name := range []string{soname.Libtpsl, "tpsl/host", "tpsl/libtpslhost.so", "tpsl/libtpslshim.so", "tpsl/python", "tpsl/libtpslyield.so", "tpsl/libtpslxpmem.so", "tpsl/libtpslarrays.so", "tpsl/" + soname.Calls, "tpsl/" + soname.Profile} {
		m, err := image.Open(filepath.Join(folder, name))
		if err != nil {
			continue // that libtpsl itself is missing has a line of its own
		}
		for _, need := range m.NeededVersions() {
			if !need.Weak && !found.defines(need) {
				lines = append(lines, fmt.Sprintf("%s: needs version %s of %s", m.Path, need.Version, need.Library))
			}
		}
		m.Close()
	}
	return lines
}

// defines reports whether this machine's library defines a version. A library that is not there is not judged.
func (f *finder) defines(need image.NeededVersion) bool {
	m, err := f.open(need.Library)
	if err != nil {
		return true
	}
	defer m.Close()
	return m.DefinesVersion(need.Version)
}
