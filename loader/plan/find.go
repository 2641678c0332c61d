// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"path/filepath"
	"slices"

	"github.com/tpsl/tpsl/loader/image"
)

// Find returns the file and placement that opening library would come to. from is the
// object that asks for it, by whose DT_RUNPATH or DT_RPATH, or by the DT_RPATH of its loaders and of the program, it may be
// found; nil: none.
// folder is the working directory of who asks, "" that of the process.
// What goes by that name already is found without a search, as in ld.so.
func (p *Plan) Find(library string, from *Object, folder string) (path string, at Placement, err error) {
	if i := p.named(library); i >= 0 {
		return p.Objects[i].Path, p.Objects[i].Placement, nil
	}
	if at, known := p.maker.recall(library); known {
		return library, at, nil
	}
	openers, err := p.openers(from)
	if err != nil {
		return "", 0, err
	}
	path, err = p.maker.search.In(folder).OpenedBy(openers...).Find(library, nil)
	if err != nil {
		return "", 0, err
	}
	m, err := image.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer m.Close()
	at = p.maker.policyFor(m).Place(soname(m))
	p.maker.remember(path, at)
	return path, at, nil
}

// openers returns the images of an object, of who needed it, and so on, and of the program, as ld.so goes through them. An object that
// was opened has no loader there.
func (p *Plan) openers(from *Object) (chain []*image.Image, err error) {
	for o := from; o != nil; o = o.loader {
		m, err := p.maker.image(o)
		if err != nil {
			return nil, err
		}
		chain = append(chain, m)
	}
	if len(p.Objects) == 0 {
		return chain, nil
	}
	root, err := p.maker.image(p.Objects[0])
	if err == nil && root.Interp != "" && !slices.Contains(chain, root) {
		chain = append(chain, root)
	}
	return chain, err
}

// Has tells whether the file at a path is of the plan.
func (p *Plan) Has(path string) bool {
	id, err := image.Identify(path)
	return err == nil && slices.ContainsFunc(p.Objects, func(o *Object) bool { return o.ID == id })
}

// named returns the index of the first object that meets the need of a name, -1: none does.
func (p *Plan) named(library string) int {
	return slices.IndexFunc(p.Objects, func(o *Object) bool { return slices.Contains(o.names, library) })
}

// recall answers Find for a file that was opened by its absolute name before: each instance opens the same plugins,
// and to read one again takes 10 kB.
func (m *maker) recall(path string) (Placement, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, known := m.placed[path]
	return at, known
}

func (m *maker) remember(path string, at Placement) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if filepath.IsAbs(path) {
		m.placed[path] = at
	}
}
