// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/tpsl/tpsl/"

// mayImport says which pieces a piece may depend on beside itself. hydra and
// tpsl meet at a process boundary only; the siblings loader, pagetables,
// endpoints, pmi, calls and ib do not know one another, so loader knows nothing of MPI.
// The modes, tpsl and host, do not know each other; process is what they have in common.
var mayImport = map[string][]string{
	"loader":     {"internal"},
	"pagetables": {"internal"},
	"endpoints":  {"internal"},
	// The message engine stands alone, though its folder lies in endpoints.
	"endpoints/engine": {"internal"},
	// An optional build, the only part of it with cgo.
	"endpoints/engine/verbs": {"endpoints/engine", "ib", "internal"},
	// It meets its other processes by the launcher.
	"endpoints/engine/job": {"endpoints/engine", "pmi", "ib", "internal"},
	"endpoints/tpslmsg":    {"endpoints/engine", "pmi", "ib", "internal"},
	"pmi":                  {"internal"},
	"ib":                   {"internal"},
	"ib/verbs":             {"ib/regcache", "internal"}, // an optional build, the only part of ib with cgo
	"process":              {"loader", "internal"},
	"tpsl/ownjob":          {"pmi", "internal"},
	"tpsl":                 {"process", "loader", "pagetables", "endpoints", "pmi", "ib", "internal"},
	"host":                 {"process", "loader", "internal"},
	"ranks":                {}, // what Go programs import; it meets libtpsl at tpsl.h
	"calls":                {"internal"},
	"profile":              {"calls", "internal"},
	"hydra":                {"calls", "profile", "pmi", "ib", "loader/image", "loader/search", "internal"},
	// A plan knows neither who asked for it nor who carries it out, and a proxy nothing of the command line.
	"hydra/plan":      {"hydra/hosts", "hydra/launch", "hydra/channel", "hydra/procs", "hydra/sockdiag", "hydra/wire", "calls", "pmi", "internal"},
	"hydra/proxy":     {"hydra/plan", "hydra/hosts", "hydra/launch", "hydra/channel", "hydra/control", "hydra/procs", "hydra/sockdiag", "hydra/wire", "calls", "pmi", "ib", "loader/image", "loader/search", "internal"},
	"cmd/libtpsl":     {"tpsl", "process", "loader", "pagetables", "endpoints", "pmi", "ib", "internal"},
	"cmd/libtpslmsg":  {"endpoints/tpslmsg", "endpoints/engine", "pmi", "ib", "internal"},
	"cmd/libtpslhost": {"host", "process", "loader", "internal"},
	"cmd/mpiexec":     {"hydra", "calls", "profile", "pmi", "ib", "loader/image", "loader/search", "internal"},
	"cmd/tpsl":        {"hydra", "calls", "profile", "pmi", "ib", "loader/image", "loader/search", "loader/plan", "process/limits", "tpsl/names", "pagetables", "internal"},
	"cmd/tpslcc":      {"internal", "loader/image", "loader/search", "tpsl/names"},
	"internal":        {},
	// What tells a machine whether programs would run judges by the rules that they run by.
	"internal/check":   {"internal/cpython", "internal/debuginfo", "internal/shellwords", "internal/flags", "internal/globals", "internal/mpilib", "internal/numbers", "internal/soname", "internal/suggest", "internal/terminal", "loader/image", "loader/search", "loader/plan", "tpsl/names"},
	"internal/globals": {"internal/debuginfo", "loader/image"},
	"internal/doctor":  {"ib", "internal/environment", "internal/flags", "internal/mpilib", "internal/suggest", "internal/topology", "internal/ranges", "internal/soname", "internal/version", "loader/image", "loader/search", "loader/plan", "process/limits", "tpsl/names"},
	// The launcher, libtpsl and the tools judge MPI libraries alike.
	"internal/cpython":   {"internal/shellwords", "loader/image", "loader/search"},
	"internal/mpilib":    {"internal/soname", "loader/image", "loader/search"},
	"internal/importlib": {"internal/flags", "internal/mpilib", "internal/soname", "internal/suggest", "loader/image", "loader/search", "tpsl/names"},
	"internal/mem":       {"internal/flags", "internal/numbers", "internal/pids", "internal/suggest", "internal/terminal", "pagetables"},
	"internal/top":       {"hydra/procs", "hydra/whereabouts", "internal/flags", "internal/numbers", "internal/pids", "internal/ranges", "internal/suggest", "internal/terminal", "internal/version"},
	"internal/trace":     {"internal/flags", "internal/numbers", "internal/pids", "internal/suggest", "internal/terminal", "pagetables"},
	"tests":              {"endpoints/engine", "pmi", "ib", "internal"},
	"examples":           {"endpoints/engine", "pmi", "ib", "internal/ranges", "internal/topology", "loader", "ranks", "internal/malloc"},
}

// mayInclude says which headers of other folders the C of a folder may include: what these
// show to those above them. All other headers are for their own folder.
var mayInclude = map[string][]string{
	"loader":    nil,
	"endpoints": nil,
	"process":   {"loader.h"},
	"tpsl":      {"loader.h", "process.h", "endpoint.h", "tpsl.h"},
	"host":      {"loader.h", "process.h"},
	"ranks":     {"tpsl.h"},
}

// noCgo are the pieces that build with CGO_ENABLED=0, and so does all that they
// depend on. endpoints/engine/job is none only because it is looked at with the tag verbs: without, it needs no cgo.
var noCgo = []string{"hydra", "pmi", "ib", "cmd/mpiexec", "cmd/tpsl", "cmd/tpslcc", "internal/check", "internal/cpython", "internal/doctor", "internal/globals", "internal/mem", "internal/mpilib", "internal/top", "internal/trace", "pagetables", "profile", "endpoints/engine", "tpsl/ownjob"}

// pkg is a package as go list -json prints it.
type pkg struct {
	ImportPath, Name, Doc string
	Standard              bool
	GoFiles, CgoFiles     []string
	Deps                  []string // all packages it depends on, indirectly too
}

// within tells whether path, relative to the module, lies in folder.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// pieceOf returns the piece that a package of this module belongs to, the innermost
// one, or "".
func pieceOf(path string) (innermost string) {
	for piece := range mayImport {
		if within(path, piece) && len(piece) > len(innermost) {
			innermost = piece
		}
	}
	return innermost
}

// checkImports returns a line for each dependency that mayImport and noCgo forbid.
func checkImports(pkgs []pkg) []string {
	byPath := map[string]pkg{}
	for _, p := range pkgs {
		byPath[p.ImportPath] = p
	}
	var broken []string
	for _, p := range pkgs {
		path, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue
		}
		piece := pieceOf(path)
		if piece == "" {
			broken = append(broken, path+": belongs to no piece; name it in mayImport")
			continue
		}
		pure := slices.Contains(noCgo, piece)
		if pure && len(p.CgoFiles) > 0 {
			broken = append(broken, path+": must not need cgo")
		}
		allowed := append([]string{piece}, mayImport[piece]...)
		for _, dep := range p.Deps {
			rel, ours := strings.CutPrefix(dep, module)
			if ours && !slices.ContainsFunc(allowed, func(a string) bool { return within(rel, a) }) {
				broken = append(broken, path+": must not depend on "+rel)
			}
			if d := byPath[dep]; pure && !d.Standard && len(d.CgoFiles) > 0 {
				broken = append(broken, path+": depends on "+rel+", which needs cgo")
			}
		}
	}
	return broken
}

var quoted = regexp.MustCompile(`(?m)^\s*#\s*include\s*"([^"]+)"`)

// checkIncludes returns a line for each header that a file in a folder of mayInclude includes and may not. exists tells
// whether the repository has a file.
func checkIncludes(name string, src []byte, exists func(name string) bool) (broken []string) {
	folder := filepath.Dir(name)
	allowed, checked := mayInclude[folder]
	if !checked {
		return nil
	}
	for _, match := range quoted.FindAllSubmatch(src, -1) {
		header := string(match[1])
		if header != "_cgo_export.h" && !exists(filepath.Join(folder, header)) && !slices.Contains(allowed, header) {
			broken = append(broken, name+": must not include "+header)
		}
	}
	return broken
}

// checkDocs returns a line for each package without documentation: a library's
// stands in doc.go, a command's in any of its files.
func checkDocs(pkgs []pkg) []string {
	var broken []string
	for _, p := range pkgs {
		path, ours := strings.CutPrefix(p.ImportPath, module)
		switch {
		case !ours || len(p.GoFiles)+len(p.CgoFiles) == 0:
		case p.Doc == "":
			broken = append(broken, path+": has no package comment")
		case p.Name != "main" && !slices.Contains(slices.Concat(p.GoFiles, p.CgoFiles), "doc.go"):
			broken = append(broken, path+": has no doc.go")
		}
	}
	return broken
}

var unsafeName = regexp.MustCompile(`_unsafe(_linux|_amd64|_test)*\.go$`)

// checkUnsafe complains of a Go file that imports unsafe but whose name does
// not say so. A file that imports "C" may: conversions from and to C pointers
// are what cgo has it for.
func checkUnsafe(name string, src []byte) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if err != nil {
		return "", err
	}
	imports := map[string]bool{}
	for _, i := range file.Imports {
		imports[i.Path.Value] = true
	}
	if imports[`"unsafe"`] && !imports[`"C"`] && !unsafeName.MatchString(name) {
		return name + `: imports "unsafe", so its name must end in _unsafe.go`, nil
	}
	return "", nil
}

// unlicensed are files that cannot carry a header: the licence itself, and
// those that the go command and its tools write.
var unlicensed = regexp.MustCompile(`^LICENSE$|(^|/)go\.sum$|(^|/)testdata/|_bpfel\.go$`)

// checkLicence complains of a text file without the two SPDX lines near its top.
func checkLicence(name string, content []byte) string {
	if unlicensed.MatchString(name) || bytes.IndexByte(content, 0) >= 0 {
		return ""
	}
	lines := bytes.SplitN(content, []byte("\n"), 9)
	top := string(bytes.Join(lines[:min(len(lines), 8)], []byte("\n")))
	for _, tag := range []string{"SPDX-FileCopyrightText: The tpsl authors", "SPDX-License-Identifier: Apache-2.0"} {
		if !strings.Contains(top, tag) {
			return fmt.Sprintf("%s: has no %q at its top", name, tag)
		}
	}
	return ""
}
