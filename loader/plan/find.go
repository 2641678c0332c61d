// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"path/filepath"

	"github.com/tpsl/tpsl/loader/image"
)

// Find returns the file and placement that opening library would come to. from is the
// object that asks for it, by whose DT_RPATH or DT_RUNPATH it may be found; nil: none.
// What goes by that name already is found without a search, as in ld.so.
func (p *Plan) Find(library string, from *Object) (path string, at Placement, err error) {
	for _, o := range p.Objects {
		if o.Name == library {
			return o.Path, o.Placement, nil
		}
	}
	if at, known := p.maker.recall(library); known {
		return library, at, nil
	}
	path, err = p.maker.find(library, from)
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
