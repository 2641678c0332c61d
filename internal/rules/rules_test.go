// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// list returns the module's packages, with their optional parts, and all that they depend on.
func list(t *testing.T) []pkg {
	cmd := exec.Command("go", "list", "-deps", "-tags=verbs", "-json=ImportPath,Name,Doc,Standard,GoFiles,CgoFiles,Deps", "./...")
	cmd.Dir = testsupport.Root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)

	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p pkg
		require.NoError(t, dec.Decode(&p))
		pkgs = append(pkgs, p)
	}
	return pkgs
}

func TestImports(t *testing.T) {
	assert.Empty(t, checkImports(list(t)))
}

func TestDocs(t *testing.T) {
	assert.Empty(t, checkDocs(list(t)))
}

func TestFiles(t *testing.T) {
	testsupport.Require(t, "git")
	root := testsupport.Root(t)
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard").Output()
	require.NoError(t, err)

	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, not committed
		}
		require.NoError(t, err)
		if complaint := checkLicence(name, content); complaint != "" {
			t.Error(complaint)
		}
		assert.Empty(t, checkIncludes(name, content, func(name string) bool {
			_, err := os.Stat(filepath.Join(root, name))
			return err == nil
		}))
		if filepath.Ext(name) != ".go" {
			continue
		}
		complaint, err := checkUnsafe(name, content)
		require.NoError(t, err)
		if complaint != "" {
			t.Error(complaint)
		}
	}
}

func TestCheckImports(t *testing.T) {
	net := pkg{ImportPath: "net", Standard: true, CgoFiles: []string{"cgo.go"}}
	third := pkg{ImportPath: "example.com/c", CgoFiles: []string{"c.go"}}
	ours := func(path string, deps ...string) pkg {
		return pkg{ImportPath: module + path, GoFiles: []string{"x.go"}, Deps: deps}
	}
	cases := map[string]struct {
		pkg  pkg
		want []string
	}{
		"own subfolder":               {ours("loader", module+"loader/image"), nil},
		"one mode knows the other":    {ours("host", module+"tpsl/names"), []string{"host: must not depend on tpsl/names"}},
		"tpsl ties together":          {ours("tpsl", module+"loader", module+"pmi", module+"endpoints"), nil},
		"hydra reads images":          {ours("hydra/proxy", module+"loader/image", module+"pmi"), nil},
		"foreign":                     {ours("loader", "fmt", "golang.org/x/sys/unix"), nil},
		"hydra imports tpsl":          {ours("hydra", module+"tpsl"), []string{"hydra: must not depend on tpsl"}},
		"tpsl imports hydra":          {ours("tpsl/x", module+"hydra"), []string{"tpsl/x: must not depend on hydra"}},
		"sibling":                     {ours("pmi", module+"loader"), []string{"pmi: must not depend on loader"}},
		"loader knows of MPI":         {ours("loader/plan", module+"tpsl"), []string{"loader/plan: must not depend on tpsl"}},
		"hydra loads":                 {ours("hydra", module+"loader"), []string{"hydra: must not depend on loader"}},
		"hydra plans":                 {ours("hydra", module+"loader/plan"), []string{"hydra: must not depend on loader/plan"}},
		"a piece in a piece":          {ours("internal/doctor", module+"loader/plan", module+"tpsl/names"), nil},
		"the piece around it":         {ours("internal/testsupport", module+"loader/plan"), []string{"internal/testsupport: must not depend on loader/plan"}},
		"through a piece in a piece":  {ours("hydra", module+"internal/doctor", module+"tpsl/names"), []string{"hydra: must not depend on tpsl/names"}},
		"like a prefix":               {ours("hydra", module+"loader/images"), []string{"hydra: must not depend on loader/images"}},
		"new folder":                  {ours("util"), []string{"util: belongs to no piece; name it in mayImport"}},
		"cgo of the standard library": {ours("pmi", "net"), nil},
		"cgo of a dependency":         {ours("pmi", "example.com/c"), []string{"pmi: depends on example.com/c, which needs cgo"}},
		"cgo allowed":                 {ours("loader", "example.com/c"), nil},
		"cgo in a piece in a piece":   {pkg{ImportPath: module + "ib/verbs", CgoFiles: []string{"x.go"}}, nil},
		"own cgo": {
			pkg{ImportPath: module + "hydra", CgoFiles: []string{"x.go"}},
			[]string{"hydra: must not need cgo"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, checkImports([]pkg{net, third, c.pkg}))
		})
	}
}

func TestCheckIncludes(t *testing.T) {
	exists := func(name string) bool { return name == "tpsl/dispatch.h" || name == "loader/object.h" }
	cases := map[string]struct {
		name, src string
		want      []string
	}{
		"own":               {"tpsl/claim.c", "#include \"dispatch.h\"", nil},
		"shown to others":   {"tpsl/dispatch.h", "#include \"loader.h\"\n#include \"process.h\"", nil},
		"the system's":      {"tpsl/claim.c", "#include <object.h>", nil},
		"what cgo makes":    {"tpsl/claim.c", "#include \"_cgo_export.h\"", nil},
		"inside the loader": {"tpsl/claim.c", "  #  include \"object.h\"", []string{"tpsl/claim.c: must not include object.h"}},
		"above":             {"process/die.c", "#include \"dispatch.h\"", []string{"process/die.c: must not include dispatch.h"}},
		"in Go":             {"host/host_unsafe.go", "/*\n#include \"endpoint.h\"\n*/", []string{"host/host_unsafe.go: must not include endpoint.h"}},
		"elsewhere":         {"tests/posix/x.c", "#include \"object.h\"", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, checkIncludes(c.name, []byte(c.src), exists))
		})
	}
}

func TestCheckDocs(t *testing.T) {
	cases := map[string]struct {
		pkg  pkg
		want []string
	}{
		"library":             {pkg{Name: "pmi", Doc: "Package pmi", GoFiles: []string{"doc.go"}}, nil},
		"command":             {pkg{Name: "main", Doc: "Command x", GoFiles: []string{"main.go"}}, nil},
		"tests only":          {pkg{Name: "e2e"}, nil},
		"comment elsewhere":   {pkg{Name: "pmi", Doc: "Package pmi", GoFiles: []string{"pmi.go"}}, []string{"x: has no doc.go"}},
		"no comment":          {pkg{Name: "pmi", GoFiles: []string{"doc.go"}}, []string{"x: has no package comment"}},
		"command, no comment": {pkg{Name: "main", CgoFiles: []string{"main.go"}}, []string{"x: has no package comment"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.pkg.ImportPath = module + "x"
			assert.Equal(t, c.want, checkDocs([]pkg{c.pkg}))
		})
	}
}

func TestCheckUnsafe(t *testing.T) {
	cases := map[string]struct {
		name, imports string
		complains     bool
	}{
		"none":        {"a.go", `"fmt"`, false},
		"named":       {"a_unsafe.go", `"unsafe"`, false},
		"named, test": {"a_unsafe_test.go", `"unsafe"`, false},
		"cgo":         {"a.go", `"C"; import "unsafe"`, false},
		"bare":        {"a.go", `"unsafe"`, true},
		"blank":       {"a.go", `_ "unsafe"`, true},
		"near miss":   {"unsafely.go", `"unsafe"`, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			complaint, err := checkUnsafe(c.name, []byte("package p; import "+c.imports))
			require.NoError(t, err)
			assert.Equal(t, c.complains, complaint != "", complaint)
		})
	}
}

func TestCheckLicence(t *testing.T) {
	const header = "# SPDX-FileCopyrightText: The tpsl authors\n# SPDX-License-Identifier: Apache-2.0\n"
	cases := map[string]struct {
		name, content string
		complains     bool
	}{
		"first":     {"a.sh", header, false},
		"shebang":   {"a.sh", "#!/bin/sh\n" + header, false},
		"none":      {"a.sh", "echo\n", true},
		"empty":     {"a.sh", "", true},
		"half":      {"a.sh", "# SPDX-FileCopyrightText: The tpsl authors\n", true},
		"too late":  {"a.sh", strings.Repeat("\n", 8) + header, true},
		"licence":   {"LICENSE", "Apache License", false},
		"checksums": {"go.sum", "x", false},
		"binary":    {"a.png", "\x89PNG\x00", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			complaint := checkLicence(c.name, []byte(c.content))
			assert.Equal(t, c.complains, complaint != "", complaint)
		})
	}
}
