// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/mpilib"
	sonames "github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/loader/search"
	"github.com/tpsl/tpsl/tpsl/names"
)

// looker holds what exists while one file is looked at.
type looker struct {
	Report
	search   *search.Path
	policies plan.Policies
	rebound  []string // names that private objects get from the loader
	static   uint64   // bytes of each thread's static block
	host     *image.Image
	apart    []string // libraries that are the ranks' own, with a closure that is added by itself
}

// File looks at a library or program: a file, or a name that ld.so finds.
func File(name string) Report {
	l := &looker{
		Report:  Report{File: name, Objects: []Object{}, Modes: []Mode{}, Lacks: []string{}, Variables: []Variable{}, Unseen: []string{}, Refused: []string{}},
		search:  search.New(os.Getenv("LD_LIBRARY_PATH")),
		rebound: plan.Rebound, static: plan.StaticTLS,
	}
	if err := l.look(name); err != nil {
		l.refuse(err)
	}
	l.sum()
	l.OK = len(l.Refused) == 0
	if l.Kind == KindProgram {
		l.OK = l.OK && slices.ContainsFunc(l.Modes, func(m Mode) bool { return m.OK })
	}
	return l.Report
}

func (l *looker) look(name string) (err error) {
	if l.policies, err = plan.ReadPolicies(os.Getenv("TPSL_POLICY"), os.Getenv("TPSL_PRIVATE")); err != nil {
		return err
	}
	python, err := l.python(name)
	if err != nil || python {
		return err
	}
	if _, err := os.Stat(name); err == nil {
		name, _ = filepath.Abs(name) // a file of the working directory
	}
	path, err := l.search.Find(name, nil)
	if err != nil {
		return err
	}
	l.File = path
	closure, err := l.search.Closure(path)
	if err != nil {
		return err
	}
	defer closure.Close()
	root := closure.Objects[0].Image
	switch {
	case isProgram(root):
		l.Kind = KindProgram
		return l.program(closure)
	case l.policies.Program.Place(soname(root)) == plan.Private:
		l.Kind, l.apart = KindProgramLibrary, sonames.StandIns
		return l.programLibrary(closure)
	}
	l.Kind = KindLibrary
	if err := l.add(closure, l.policies.Opened, plan.Rule{Where: "asked for"}); err != nil {
		return err
	}
	l.judge(plan.Make(path, l.options()))
	return nil
}

// options are those that libtpsl plans with.
func (l *looker) options() plan.Options {
	return plan.Options{
		Policy: l.policies.Opened, Program: l.policies.Program, Search: l.search, Unified: names.Data,
		StaticTLS: l.static, Rebind: l.rebound, RebindOnce: plan.ReboundOnce, Interposed: slices.Concat(names.Stubs()...),
	}
}

// add makes the rows of a closure, the first object by the rule given. What only shared
// objects need is ld.so's business.
func (l *looker) add(c *search.Closure, policy plan.Policy, first plan.Rule) error {
	queue := []int{0}
	for at := 0; at < len(queue); at++ {
		k := queue[at]
		m, rule := c.Objects[k].Image, first
		if k > 0 {
			rule = policy.Rule(soname(m))
		}
		if k > 0 && slices.Contains(l.apart, soname(m)) || l.has(m.Path) {
			continue
		}
		o, err := newObject(m, rule, l.rebound)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		l.Objects = append(l.Objects, o)
		if rule.Placement != plan.Shared || k == 0 {
			queue = append(queue, c.Objects[k].Deps...)
		}
	}
	return nil
}

func (l *looker) has(path string) bool {
	return slices.ContainsFunc(l.Objects, func(o Object) bool { return o.Path == path })
}

// tellMPI notes what the MPI library is that ranks would run on.
func (l *looker) tellMPI(path string) error {
	m, err := mpilib.Of(path, l.search)
	if err != nil {
		return err
	}
	l.MPILibrary = path
	l.MPI = MPI{string(m.ABI), string(m.Implementation), m.Version, string(m.Protocol)}
	return nil
}

// mpiLibrary adds the MPI library that ranks of the closure's root would run on, with its own closure, and returns
// its plan, nil when it is refused.
func (l *looker) mpiLibrary(c *search.Closure) (*plan.Plan, error) {
	abi, err := mpilib.Wanted(func(name string) bool { return c.Find(name) != nil })
	if err != nil {
		return nil, err
	}
	path, err := mpilib.Find(os.Getenv("TPSL_MPI_LIBRARY"), abi, nil, mpilib.Finder(l.search, nil))
	if err != nil {
		return nil, err
	}
	if err := l.tellMPI(path); err != nil {
		return nil, err
	}
	closure, err := l.search.Closure(path)
	if err != nil {
		return nil, err
	}
	defer closure.Close()
	if err := l.add(closure, l.policies.Opened, plan.Rule{Where: "the MPI library"}); err != nil {
		return nil, err
	}
	p, err := plan.Make(path, l.options())
	l.judge(p, err)
	return p, nil
}

// programLibrary looks at a library of the program that every rank has to itself.
func (l *looker) programLibrary(c *search.Closure) error {
	root := c.Objects[0].Image
	if err := l.add(c, l.policies.Program, l.policies.Program.Rule(soname(root))); err != nil {
		return err
	}
	p, err := l.mpiLibrary(c)
	if p != nil {
		l.judge(p.Extend(root.Path, plan.Opening{}))
	}
	return err
}

// judge notes what is wrong with a plan.
func (l *looker) judge(p *plan.Plan, err error) {
	if err != nil {
		l.refuse(err)
		return
	}
	l.Instance.Static = p.StaticTLS
	for _, o := range p.Objects {
		i := slices.IndexFunc(l.Objects, func(have Object) bool { return have.Path == o.Path })
		if i >= 0 && o.StaticTLS > 0 && l.Objects[i].TLS.Static == 0 { // by another object's code
			l.Objects[i].TLS.Model, l.Objects[i].TLS.Static = modelInitialExec, l.Objects[i].TLS.Bytes
		}
	}
	for _, imp := range p.Imports {
		if imp.Source == plan.FromProcess && imp.Library == "" && !imp.Weak && !l.fromProcess(imp.Name) {
			l.refuse(fmt.Errorf("%s: symbol %s is defined by no library: link it with the one that has it", imp.Wanted, imp.Name))
		}
	}
}

// fromProcess tells the names that the process of the ranks has: those of libtpsl, or of
// the host of private programs.
func (l *looker) fromProcess(name string) bool {
	if l.host != nil {
		_, ok := l.host.Lookup(name, "")
		return ok
	}
	return slices.Contains(names.Data, name) || l.Kind != KindLibrary && slices.Contains(l.options().Interposed, name)
}

// refuse notes each line of an error, with the object that it is about: that of the line
// before unless it begins with a path.
func (l *looker) refuse(err error) {
	var about *Object
	for why := range strings.SplitSeq(err.Error(), "\n") {
		why = strings.TrimSuffix(strings.TrimPrefix(why, "plan "+l.File+": "), ": "+plan.ErrUnsupported.Error())
		for i := range l.Objects {
			if rest, ok := strings.CutPrefix(why, l.Objects[i].Path+": "); ok {
				about, why = &l.Objects[i], rest
			}
		}
		if about != nil {
			about.Refused = append(about.Refused, why)
			why = about.Path + ": " + why
		}
		if errors.Is(err, search.ErrNotFound) {
			why += "; install it, or name its folder in LD_LIBRARY_PATH"
		}
		if !slices.Contains(l.Refused, why) {
			l.Refused = append(l.Refused, why)
		}
	}
}
