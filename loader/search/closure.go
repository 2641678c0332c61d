// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/loader/image"
)

// Closure is an object with all that it needs.
type Closure struct {
	Objects []*Object // Objects[0] is the root
}

// Object is a file of a closure.
type Object struct {
	*image.Image        // nil: it was there before, see [Path.Beside]
	Name         string // as first wanted by DT_NEEDED; the root's is as given
	Path         string // the file
	Deps         []int  // indices into Objects, in the order of DT_NEEDED

	Loader *Object // that needed it first; nil for the root

	names []string // others by which it was wanted
}

// known tells whether ld.so would take the object for a name.
func (o *Object) known(name string) bool {
	return o.Name == name || slices.Contains(o.names, name) || o.Image != nil && o.Soname == name
}

// Find returns the object with this SONAME, or wanted by this name, or nil.
func (c *Closure) Find(soname string) *Object {
	if i := c.index(soname); i >= 0 {
		return c.Objects[i]
	}
	return nil
}

func (c *Closure) index(name string) int {
	if name == "" {
		return -1
	}
	return slices.IndexFunc(c.Objects, func(o *Object) bool { return o.known(name) })
}

// Close closes all images.
func (c *Closure) Close() error {
	var errs []error
	for _, o := range c.Objects {
		if o.Image != nil {
			errs = append(errs, o.Image.Close())
		}
	}
	return errors.Join(errs...)
}

// Closure opens the file root and all that it needs, breadth-first, as ld.so does
// for a program. Libraries to preload come first, as if the root needed them. One
// error reports all libraries that are missing; it wraps ErrNotFound.
func (p *Path) Closure(root string, preload ...string) (*Closure, error) {
	m, err := image.Open(root)
	if err != nil {
		return nil, fmt.Errorf("find libraries: %w", err)
	}
	c := &Closure{Objects: []*Object{{Image: m, Name: root, Path: root}}}
	var faults []*fault
	for i := 0; i < len(c.Objects); i++ {
		o := c.Objects[i]
		if o.Image == nil {
			continue
		}
		needed := o.Needed
		if i == 0 {
			needed = slices.Concat(preload, needed)
		}
		for _, name := range needed {
			dep, f := c.add(p, name, o)
			if f != nil {
				faults = append(faults, f)
				continue
			}
			o.Deps = append(o.Deps, dep)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(&faultsError{root: root, faults: faults}, c.Close())
	}
	return c, nil
}

// add returns the index of the object that a name leads to.
func (c *Closure) add(p *Path, name string, by *Object) (int, *fault) {
	if i := c.index(name); i >= 0 {
		return i, nil
	}
	if p.there != nil && p.there(name) {
		c.Objects = append(c.Objects, &Object{Name: name, Loader: by})
		return len(c.Objects) - 1, nil
	}
	w := wish{name: name, loaders: append(by.loaders(), p.openers...)}
	m, f := p.open(w)
	if f != nil {
		return 0, f
	}
	// The same file under another name is the same object.
	if i := slices.IndexFunc(c.Objects, func(o *Object) bool { return o.Image != nil && o.ID == m.ID }); i >= 0 {
		c.Objects[i].names = append(c.Objects[i].names, name)
		if err := m.Close(); err != nil {
			return 0, w.fault(err)
		}
		return i, nil
	}
	c.Objects = append(c.Objects, &Object{Image: m, Name: name, Path: m.Path, Loader: by})
	return len(c.Objects) - 1, nil
}

// loaders returns the object, who loaded it, and so on.
func (o *Object) loaders() []*image.Image {
	var chain []*image.Image
	for ; o != nil; o = o.Loader {
		chain = append(chain, o.Image)
	}
	return chain
}

// faultsError is everything that is wrong with a closure.
type faultsError struct {
	root   string
	faults []*fault
}

// Error names each library once, with all who need it.
func (e *faultsError) Error() string {
	needers := map[string][]string{} // by library and what is wrong with it
	var order []string
	for _, f := range e.faults {
		what := fmt.Sprintf("%s: %v", f.name, f.err)
		if _, seen := needers[what]; !seen {
			order = append(order, what)
		}
		needers[what] = append(needers[what], f.by)
	}
	for i, what := range order {
		order[i] = fmt.Sprintf("%s (needed by %s)", what, strings.Join(needers[what], ", "))
	}
	return fmt.Sprintf("find libraries of %s: %s", e.root, strings.Join(order, "; "))
}

// Unwrap is for errors.Is and errors.As.
func (e *faultsError) Unwrap() []error {
	var errs []error
	for _, f := range e.faults {
		errs = append(errs, f)
	}
	return errs
}
