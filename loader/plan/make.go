// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// ErrUnsupported marks a feature of a file that the loader refuses.
var ErrUnsupported = errors.New("not supported")

// ErrChanged says that a file is no longer the one the plan was made from.
var ErrChanged = errors.New("the file changed while the program ran")

// Options say what a plan is made for.
type Options struct {
	Policy Policy
	Search *search.Path
	// Rebind lists the names that the loader answers, for private objects and
	// for objects placed once.
	Rebind, RebindOnce []string
	// Unified lists data symbols that must have one address in the program and
	// all instances: they come from the process, never from an instance.
	Unified []string
	// Program places the program's libraries that are opened in an instance, with
	// what they need, if it makes the one opened private.
	Program Policy
	// Interposed lists the names that such libraries take from the process, where
	// a tool may stand in front of them.
	Interposed []string
	// Wrapped lists functions of the private libraries WrappedIn, by SONAME. References to the libraries'
	// functions get the caller's of the same names.
	Wrapped, WrappedIn []string
	// StaticTLS is the size of the block that each thread has for thread-locals at
	// fixed distances from the thread pointer; LocalExec says that it ends there, so
	// that programs can be private.
	StaticTLS uint64
	LocalExec bool
	// ExecStack says that an instance can have executable stacks, if it is to have them when it starts.
	ExecStack bool
	// Preload lists the files that come before all that the object asked for needs, and before that object if it is a library.
	Preload []string
	// StandIn is a file that stands in the C library's place: what looks a name up comes to
	// it where it would come to the C library. It is started first. "": none.
	StandIn string
}

// maker carries what the plans of one library have in common.
type maker struct {
	policy     Policy
	program    Policy
	search     *search.Path
	rebind     map[string]bool
	rebindOnce map[string]bool
	unified    map[string]bool
	interposed map[string]bool
	wrapped    map[string]bool
	wrappedIn  map[string]bool
	staticTLS  uint64
	localExec  bool
	execStack  bool
	preload    []string
	standIn    string

	mu     sync.Mutex
	opened map[image.FileID]*image.Image
	placed map[string]Placement // what Find told, by the file's absolute name
}

// Make plans instances of the library at path or of that name.
func Make(library string, o Options) (*Plan, error) {
	m := &maker{
		policy: o.Policy, program: o.Program, search: o.Search,
		rebind: set(o.Rebind), rebindOnce: set(o.RebindOnce), unified: set(o.Unified), interposed: set(o.Interposed),
		wrapped: set(o.Wrapped), wrappedIn: set(o.WrappedIn),
		staticTLS: o.StaticTLS, localExec: o.LocalExec, execStack: o.ExecStack,
		preload: o.Preload, standIn: o.StandIn, opened: map[image.FileID]*image.Image{}, placed: map[string]Placement{},
	}
	path, err := m.search.Find(library, nil)
	if err != nil {
		return nil, err
	}
	return m.make(&Plan{maker: m}, path, Opening{})
}

// Extend plans the opening of one more library, a file, as dlopen does, in instances made
// by p. Repeated calls return the same plan.
func (p *Plan) Extend(path string, how Opening) (*Plan, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file, err := image.Identify(path)
	if err != nil {
		return nil, err
	}
	if !p.maker.search.Relative() {
		how.Folder = ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := extension{file, how}
	if x := p.extensions[key]; x != nil {
		return x, nil
	}
	x, err := p.maker.make(p, path, how)
	if err != nil {
		return nil, err
	}
	if p.extensions == nil {
		p.extensions = map[extension]*Plan{}
	}
	p.extensions[key] = x
	return x, nil
}

// ofProgram tells whether a library that an instance opens is one of the program's.
func (m *maker) ofProgram(im *image.Image) bool {
	return len(m.program) > 0 && m.program.Place(soname(im)) == Private
}

// policyFor returns the policy for the closure of a library that an instance opens.
func (m *maker) policyFor(im *image.Image) Policy {
	if m.ofProgram(im) {
		return m.program
	}
	return m.policy
}

func set(names []string) map[string]bool {
	s := map[string]bool{}
	for _, n := range names {
		s[n] = true
	}
	return s
}

// make plans path on top of base.
func (m *maker) make(base *Plan, path string, how Opening) (*Plan, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	first := len(base.Objects) == 0
	var preload []string
	if first {
		preload = m.preload
	}
	there := func(name string) bool { return base.named(name) >= 0 }
	openers, err := base.openers(nil)
	if err != nil {
		return nil, err
	}
	closure, err := m.search.In(how.Folder).Beside(there).OpenedBy(openers...).Closure(path, preload...)
	if err != nil {
		return nil, err
	}
	defer closure.Close()
	p := &Plan{
		Objects:   append([]*Object(nil), base.Objects...),
		Imports:   append([]Import(nil), base.Imports...),
		FirstNew:  len(base.Objects),
		Global:    base.Global,
		StandIn:   base.StandIn,
		StaticTLS: base.StaticTLS,
		ExecStack: base.ExecStack,
		maker:     m,
	}
	root := closure.Objects[0].Image
	if m.policy.Rule(soname(root)).Always {
		return nil, fmt.Errorf("%s: %s is one for the whole process: open a library that uses it instead: %w", path, soname(root), ErrUnsupported)
	}
	s := &resolver{
		maker: m, plan: p, policy: m.policyFor(root), ofProgram: m.ofProgram(root),
		images: map[int]*image.Image{}, imports: map[Import]uint32{}, found: map[wish]find{},
	}
	p.Root = s.addClosure(closure)
	if first && m.standIn != "" {
		standIn, err := m.search.Closure(m.standIn)
		if err != nil {
			return nil, err
		}
		defer standIn.Close()
		p.StandIn = p.Objects[s.addClosure(standIn)]
	}
	if first || how.Global {
		p.Global = join(p.Global, p.Scope(p.Root))
	}
	if first && root.Interp == "" {
		p.Global = join(p.preloaded(preload), p.Global)
	}
	s.order(how)
	if err := s.reopen(); err != nil {
		return nil, err
	}
	if err := s.resolve(); err != nil {
		return nil, fmt.Errorf("plan %s: %w", path, err)
	}
	p.Start = s.startOrder()
	return p, nil
}

// addClosure appends the objects of the closure that the plan lacks, and returns the index
// of its root. What only shared objects need is ld.so's business and is left out, but for
// the shared objects themselves.
func (s *resolver) addClosure(c *search.Closure) int {
	index := map[int]int{} // closure index -> plan index
	var added []int
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		k := queue[0]
		if _, seen := index[k]; seen {
			continue
		}
		o := c.Objects[k]
		i := s.known(o)
		if i < 0 {
			i = len(s.plan.Objects)
			n := s.newObject(o, k == 0)
			if at, seen := index[slices.Index(c.Objects, o.Loader)]; seen {
				n.loader = s.plan.Objects[at]
			}
			s.plan.Objects = append(s.plan.Objects, n)
			s.images[i] = o.Image
			added = append(added, k)
		}
		index[k] = i
		if s.plan.Objects[i].Placement != Shared && slices.Contains(added, k) {
			queue = append(queue, o.Deps...)
		}
	}
	for _, k := range added {
		to := s.plan.Objects[index[k]]
		for _, d := range c.Objects[k].Deps {
			if j, ok := index[d]; ok && to.Placement != Shared {
				to.Deps = append(to.Deps, j)
			}
		}
	}
	return index[0]
}

// known returns the index of an object that the plan already has, or -1: the same file,
// or what a need is met by without one.
func (s *resolver) known(o *search.Object) int {
	if o.Image == nil {
		return s.plan.named(o.Name)
	}
	return slices.IndexFunc(s.plan.Objects, func(have *Object) bool { return have.ID == o.ID })
}

// soname is the name that the policy goes by: DT_SONAME, or the file's.
func soname(m *image.Image) string {
	if m.Soname != "" {
		return m.Soname
	}
	return filepath.Base(m.Path)
}

func (s *resolver) newObject(o *search.Object, root bool) *Object {
	name := soname(o.Image)
	rule := s.policy.Rule(name)
	at := rule.Placement
	if root && s.plan.FirstNew == 0 {
		at = Private
	}
	n := &Object{Name: name, Path: o.Path, ID: o.ID, Placement: at, CLibrary: rule.Always}
	if o.Soname != "" {
		n.names = append(n.names, o.Soname)
	}
	if !root {
		n.names = append(n.names, o.Name)
	}
	if at == Shared {
		return n
	}
	n.Wrapped = at == Private && s.wrappedIn[name]
	n.Span, n.Loads, n.TLS, n.Relro = o.Span(), o.Loads, o.TLS, o.Relro
	n.Dynamic, n.Phdr, n.Phnum, n.EHFrameHdr = o.Dynamic, o.PhdrVaddr, o.Phnum, o.EHFrameHdr.Vaddr
	n.Symtab, n.Strtab, n.GNUHash, n.SysVHash = o.SymtabVaddr, o.StrtabVaddr, o.GNUHashVaddr, o.SysVHashVaddr
	n.Versym, n.Verdef, n.VerdefNum = o.VersymVaddr, o.VerdefVaddr, o.VerdefNum
	n.Symbols = o.SymbolCount
	n.Init, n.Fini, n.InitArray, n.FiniArray = o.Init, o.Fini, o.InitArray, o.FiniArray
	n.Entry = o.Entry
	return n
}

// startOrder returns the new objects to map, dependencies before dependents: first the
// stand-in and what is placed once, for which other instances wait. The rest is in ld.so's
// order, which takes the last first (_dl_sort_maps).
func (s *resolver) startOrder() []int {
	var order []int
	done := map[int]bool{}
	var visit func(i int)
	visit = func(i int) {
		if done[i] || i < s.plan.FirstNew {
			return
		}
		done[i] = true
		for _, d := range s.plan.Objects[i].Deps {
			visit(d)
		}
		if s.plan.Objects[i].Placement != Shared {
			order = append(order, i)
		}
	}
	for i, o := range s.plan.Objects {
		if o == s.plan.StandIn || o.Placement == Once {
			visit(i)
		}
	}
	for i := len(s.plan.Objects) - 1; i >= s.plan.FirstNew; i-- {
		visit(i)
	}
	return order
}
