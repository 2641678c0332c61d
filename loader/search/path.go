// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/loader/image"
)

// ErrNotFound is what a search ends with that had no other fault.
var ErrNotFound = errors.New("not found")

// cacheFile is what ldconfig(8) writes.
const cacheFile = "/etc/ld.so.cache"

// defaultDirs are searched last, in this order.
var defaultDirs = []string{
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
	"/lib64", "/usr/lib64", "/lib", "/usr/lib",
}

// Path is where libraries are looked for.
type Path struct {
	env    []string // LD_LIBRARY_PATH, unexpanded
	cache  func() cache
	hwcaps func() []string
	pass   func(*image.Image) bool // nil: nothing is passed over
	there  func(name string) bool  // nil: no library is there already
	files  map[string]string       // that names lead to without a search
	dir    string                  // that relative paths start at; "" the working directory

	openers []*image.Image // who opens what is looked for, who needed that one, and so on, and the program
}

// In returns the search path of a process whose working directory is dir.
func (p *Path) In(dir string) *Path {
	other := *p
	other.dir = dir
	return &other
}

// at is a relative path, as it stands in an object or in the environment, for this process.
func (p *Path) at(path string) string {
	if p.dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.dir, path)
}

// PassingOver returns a path that goes on searching at files for which pass is true.
func (p *Path) PassingOver(pass func(*image.Image) bool) *Path {
	other := *p
	other.pass = pass
	return &other
}

// Beside returns a path for a process that has loaded libraries: where there is true for the name by which one is needed,
// closures have an object without a file, and nothing is searched for.
func (p *Path) Beside(there func(name string) bool) *Path {
	other := *p
	other.there = there
	return &other
}

// OpenedBy returns the path of what is opened while a program runs, by the first of these objects, which are followed by who needed
// it, and so on, and by the program.
func (p *Path) OpenedBy(openers ...*image.Image) *Path {
	other := *p
	other.openers = openers
	return &other
}

// Instead returns a path by which these names, as they stand in DT_NEEDED, lead to these files, wherever else there is a library of
// the name.
func (p *Path) Instead(files map[string]string) *Path {
	other := *p
	other.files = files
	return &other
}

// Relative tells whether what is found depends on the working directory by LD_LIBRARY_PATH.
func (p *Path) Relative() bool {
	return slices.ContainsFunc(p.env, func(dir string) bool { return !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "$") })
}

// New returns the search path of a process with this LD_LIBRARY_PATH. The cache
// is read at most once, when first needed; one that cannot be read or is broken
// is ignored.
func New(ldLibraryPath string) *Path {
	return &Path{
		env:    split(ldLibraryPath, ":;"),
		hwcaps: sync.OnceValue(hwcapSubdirs),
		cache: sync.OnceValue(func() cache {
			data, err := os.ReadFile(cacheFile)
			if err != nil {
				return nil
			}
			return parseCache(data, hwcapSubdirs())
		}),
	}
}

// split cuts a list of directories. Empty elements stand for the working
// directory; an empty list has none.
func split(list, separators string) []string {
	if list == "" {
		return nil
	}
	var dirs []string
	for {
		i := strings.IndexAny(list, separators)
		if i < 0 {
			return append(dirs, list)
		}
		dirs = append(dirs, list[:i])
		list = list[i+1:]
	}
}

// Find returns the file that a library name leads to, as an absolute path. from is the object that
// needs it; nil stands for who opens it, or a program without DT_RPATH and DT_RUNPATH. Files for
// another machine or class are passed over; a file that is no library at all ends
// the search, as in ld.so. An error that wraps ErrNotFound names the library and
// who needs it.
func (p *Path) Find(name string, from *image.Image) (string, error) {
	w := wish{name: name, loaders: p.openers}
	if from != nil {
		w.loaders = append([]*image.Image{from}, p.openers...)
	}
	m, f := p.open(w)
	if f != nil {
		return "", f
	}
	path, err := filepath.Abs(m.Path)
	return path, errors.Join(err, m.Close())
}

// wish is a library that is looked for.
type wish struct {
	name    string
	loaders []*image.Image // who needs or opens it, who needed that one, and so on, and the program
}

// open finds a library and returns it with Path as found.
func (p *Path) open(w wish) (*image.Image, *fault) {
	m, err := p.search(w)
	switch {
	case err != nil:
		return nil, w.fault(err)
	case m == nil:
		return nil, w.fault(ErrNotFound)
	}
	return m, nil
}

func (w wish) fault(err error) *fault {
	f := &fault{name: w.name, err: err}
	if len(w.loaders) > 0 {
		f.by = w.loaders[0].Path
	}
	return f
}

// fault is a library that could not be opened.
type fault struct {
	name, by string // by is the path of who needs it, or ""
	err      error
}

func (f *fault) Error() string {
	if f.by == "" {
		return fmt.Sprintf("find %s: %v", f.name, f.err)
	}
	return fmt.Sprintf("find %s, needed by %s: %v", f.name, f.by, f.err)
}

func (f *fault) Unwrap() error { return f.err }

// search follows _dl_map_object in glibc's elf/dl-load.c. It returns nil where
// no directory has the library.
func (p *Path) search(w wish) (*image.Image, error) {
	var from *image.Image
	if len(w.loaders) > 0 {
		from = w.loaders[0]
	}
	if strings.Contains(w.name, "/") {
		return openNamed(p.at(expand(w.name, from)))
	}
	if file, ok := p.files[w.name]; ok {
		return openNamed(file)
	}
	if m, err := p.inDirs(w.name, p.before(w)); m != nil || err != nil {
		return m, err
	}
	noDefault := from != nil && elf.DynFlag1(from.Flags1)&elf.DF_1_NODEFLIB != 0
	if path, ok := p.cache()[w.name]; ok && !(noDefault && inDefault(path)) {
		if m, err := p.attempt(path); m != nil || err != nil {
			return m, err
		}
	}
	if noDefault {
		return nil, nil
	}
	return p.inDirs(w.name, defaultDirs)
}

// before lists the directories that come before the cache: DT_RPATH of the
// loaders, unless the nearest has a DT_RUNPATH, then LD_LIBRARY_PATH, then
// DT_RUNPATH of the nearest. DT_RUNPATH makes an object's DT_RPATH void.
// LD_LIBRARY_PATH belongs to the program.
func (p *Path) before(w wish) []string {
	var dirs []string
	add := func(list []string, of *image.Image) {
		for _, d := range list {
			if d = expand(d, of); d == "" {
				d = "."
			}
			dirs = append(dirs, d)
		}
	}
	if len(w.loaders) == 0 {
		add(p.env, nil)
		return dirs
	}
	if w.loaders[0].Runpath == "" {
		for _, l := range w.loaders {
			if l.Runpath == "" {
				add(split(l.Rpath, ":"), l)
			}
		}
	}
	add(p.env, program(w.loaders))
	add(split(w.loaders[0].Runpath, ":"), w.loaders[0])
	return dirs
}

// program returns the program, if it is the last of the loaders; else nil, which is this process's.
func program(loaders []*image.Image) *image.Image {
	if last := loaders[len(loaders)-1]; last.Interp != "" {
		return last
	}
	return nil
}

// inDirs looks for a library in directories and their hwcaps subdirectories.
func (p *Path) inDirs(name string, dirs []string) (*image.Image, error) {
	for _, dir := range dirs {
		for _, sub := range p.hwcaps() {
			if m, err := p.attempt(filepath.Join(dir, hwcapsDir, sub, name)); m != nil || err != nil {
				return m, err
			}
		}
		if m, err := p.attempt(join(dir, name)); m != nil || err != nil {
			return m, err
		}
	}
	return nil, nil
}

// join keeps a slash in the result, which filepath.Join drops from "./name".
func join(dir, name string) string {
	return strings.TrimRight(dir, "/") + "/" + name
}

func inDefault(path string) bool {
	for _, d := range defaultDirs {
		if rest, ok := strings.CutPrefix(path, d+"/"); ok && !strings.Contains(rest, "/") {
			return true
		}
	}
	return false
}

// attempt opens a file; nil without an error where the search goes on.
func (p *Path) attempt(path string) (*image.Image, error) {
	m, err := image.Open(p.at(path))
	switch {
	case err == nil && p.pass != nil && p.pass(m):
		return nil, m.Close()
	case err == nil:
		return m, nil
	case errors.Is(err, image.ErrMachine), errors.Is(err, fs.ErrNotExist),
		errors.Is(err, fs.ErrPermission), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ENAMETOOLONG):
		return nil, nil
	}
	return nil, err
}

// openNamed opens the one file that a name with a slash stands for. Unlike in a
// search there is no other file to try, so that whatever is wrong with it is told.
func openNamed(path string) (*image.Image, error) {
	m, err := image.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m, err
}

// token is a dynamic string token (ld.so(8)); an identifier that only begins like
// one is none.
var token = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)\b)`)
})

// expand replaces the tokens in a path that comes from an object, or from the
// environment of a program. Without an object $ORIGIN is this program's.
func expand(path string, of *image.Image) string {
	if !strings.Contains(path, "$") {
		return path
	}
	return token().ReplaceAllStringFunc(path, func(t string) string {
		switch strings.Trim(t, "${}") {
		case "LIB":
			return "lib/x86_64-linux-gnu" // Debian's slibdir, see debian/rules of glibc
		case "PLATFORM":
			return "x86_64"
		}
		return origin(of)
	})
}

// origin is the directory of an object. The kernel resolves the links to a
// program, ld.so those to a library not.
func origin(of *image.Image) string {
	path, program := "/proc/self/exe", true
	if of != nil {
		path, program = of.Path, of.Interp != ""
	}
	if program {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Dir(path)
}
