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
	*image.Image
	Name string // as first wanted by DT_NEEDED; the root's is as given
	Path string // the file
	Deps []int  // indices into Objects, in the order of DT_NEEDED

	names  []string // others by which it was wanted
	loader *Object  // that needed it first; nil for the root
}

// known tells whether ld.so would take the object for a name.
func (o *Object) known(name string) bool {
	return o.Name == name || o.Soname == name || slices.Contains(o.names, name)
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
		errs = append(errs, o.Image.Close())
	}
	return errors.Join(errs...)
}

// Closure opens the file root and all that it needs, breadth-first, as ld.so does
// for a program. One error reports all libraries that are missing; it wraps
// ErrNotFound.
func (p *Path) Closure(root string) (*Closure, error) {
	m, err := image.Open(root)
	if err != nil {
		return nil, fmt.Errorf("find libraries: %w", err)
	}
	c := &Closure{Objects: []*Object{{Image: m, Name: root, Path: root}}}
	var faults []error
	for i := 0; i < len(c.Objects); i++ {
		o := c.Objects[i]
		for _, name := range o.Needed {
			dep, err := c.add(p, name, o)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			o.Deps = append(o.Deps, dep)
		}
	}
	if len(faults) > 0 {
		return nil, &faultsError{root: root, faults: append(faults, c.Close())}
	}
	return c, nil
}

// add returns the index of the object that a name leads to.
func (c *Closure) add(p *Path, name string, by *Object) (int, error) {
	if i := c.index(name); i >= 0 {
		return i, nil
	}
	m, err := p.open(wish{name: name, loaders: by.loaders()})
	if err != nil {
		return 0, err
	}
	// The same file under another name is the same object.
	if i := slices.IndexFunc(c.Objects, func(o *Object) bool { return o.ID == m.ID }); i >= 0 {
		c.Objects[i].names = append(c.Objects[i].names, name)
		return i, m.Close()
	}
	c.Objects = append(c.Objects, &Object{Image: m, Name: name, Path: m.Path, loader: by})
	return len(c.Objects) - 1, nil
}

// loaders returns the object, who loaded it, and so on.
func (o *Object) loaders() []*image.Image {
	var chain []*image.Image
	for ; o != nil; o = o.loader {
		chain = append(chain, o.Image)
	}
	return chain
}

// faultsError is everything that is wrong with a closure.
type faultsError struct {
	root   string
	faults []error
}

func (e *faultsError) Error() string {
	var lines []string
	for _, f := range e.faults {
		if f != nil && !slices.Contains(lines, f.Error()) {
			lines = append(lines, f.Error())
		}
	}
	return fmt.Sprintf("find libraries of %s: %s", e.root, strings.Join(lines, "; "))
}

// Unwrap is for errors.Is and errors.As.
func (e *faultsError) Unwrap() []error { return e.faults }
