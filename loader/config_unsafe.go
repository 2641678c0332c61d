// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fno-strict-aliasing -fexceptions
#cgo LDFLAGS: -ldl -lpthread -rdynamic
#include "dl.h"
#include "libc.h"
*/
import "C"

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"

	"github.com/tpsl/tpsl/internal/malloc"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/loader/search"
)

// common is what all instances have in common: plans, the objects placed once,
// and the addresses of what plans import.
type common struct {
	mu      sync.Mutex
	recipes []*recipe                        // the first is what Configure has set
	values  map[*plan.Plan][]uint64          // of Plan.Imports
	handles map[string]unsafe.Pointer        // of shared objects, by their names
	outside map[string]*C.struct_tpsl_object // the same as members of scopes
	once    map[image.FileID]*mapped
	live    map[*C.struct_tpsl_instance]*instance
	texts   map[image.FileID]*text // nil: none could be made

	placing   sync.Mutex   // held while objects are placed once; taken before mu
	verifying sync.RWMutex // taken before mu
}

// A recipe is a Config, and what was made of it.
type recipe struct {
	config   Config
	search   *search.Path
	plans    map[library]*plan.Plan
	wrappers *C.struct_tpsl_wrappers // nil: there are none
}

// A library is a file that instances are opened of.
type library struct {
	path string
	file image.FileID
}

var process = common{
	recipes: []*recipe{newRecipe(Config{})},
	values:  map[*plan.Plan][]uint64{},
	handles: map[string]unsafe.Pointer{},
	outside: map[string]*C.struct_tpsl_object{},
	once:    map[image.FileID]*mapped{},
	live:    map[*C.struct_tpsl_instance]*instance{},
	texts:   map[image.FileID]*text{},
}

// Config says what instances are made of.
type Config struct {
	Policy     plan.Policy       // placement of the closure of what is opened; nil: the default, and TPSL_POLICY
	Unified    []string          // variables that the program and all instances share
	Program    plan.Policy       // placement of libraries of the program; see plan.Options
	Interposed []string          // names that those take from the process
	Preload    []string          // files that come first in what is opened
	StandIn    string            // file that stands in the C library's place; "": none
	Instead    map[string]string // files that names of libraries lead to without a search
	Processes  bool              // each instance is a process that shares the address space
	Peers      bool              // instances may copy from and to other processes by process_vm_readv
	Wrappers   Wrappers          // in front of functions of libraries that instances have
	Extended   func()            // told when an instance has opened a library more; nil: nobody is
	HugeText   bool              // text in huge pages, from a copy of it
	Refused    func(error)       // told for each library why the kernel lets it have none; may be nil
}

// Wrappers are functions of C that code of instances gets in place of functions of the same names, by references and by
// dlsym. A definition of that name in another library stays what it is, so a tool in front of the library stays there and
// calls the wrapper. What a wrapper stands in front of, tpsl_wrapped of loader.h tells it.
type Wrappers struct {
	Libraries []string                  // SONAMEs of the libraries; only private copies are concerned
	Functions map[string]unsafe.Pointer // by their names
}

// A Recipe names a Config, for tpsl_open of loader.h.
type Recipe int

// Configure sets what instances opened from now on are made of, but for those whose Recipe another function has returned.
func Configure(c Config) {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.recipes[0] = newRecipe(c)
	process.tellPeers()
}

// Add returns a recipe for further instances, beside those of Configure. It stays.
func Add(c Config) Recipe {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.recipes = append(process.recipes, newRecipe(c))
	process.tellPeers()
	return Recipe(len(process.recipes) - 1)
}

func newRecipe(c Config) *recipe {
	return &recipe{config: c, plans: map[library]*plan.Plan{}, wrappers: c.Wrappers.list()}
}

// tellPeers lets copies go to other processes if instances of any recipe may have them.
func (p *common) tellPeers() {
	C.tpsl_set_process_peers(C.bool(slices.ContainsFunc(p.recipes, func(r *recipe) bool { return r.config.Peers })))
}

// list makes what the C side has of the wrappers, in memory that is never freed.
func (w Wrappers) list() *C.struct_tpsl_wrappers {
	if len(w.Functions) == 0 {
		return nil
	}
	list := make([]C.struct_tpsl_wrapper, 0, len(w.Functions))
	for name, function := range w.Functions {
		list = append(list, C.struct_tpsl_wrapper{name: C.CString(name), function: function})
	}
	return C.tpsl_wrappers_new(malloc.Array(list), C.size_t(len(list)))
}

// SearchPath returns where instances find libraries.
func SearchPath() *search.Path {
	process.mu.Lock()
	defer process.mu.Unlock()
	return process.recipes[0].finder()
}

// Preconditions: the mutex of process is held, as for all methods below.
func (r *recipe) finder() *search.Path {
	if r.search == nil {
		r.search = search.New(os.Getenv("LD_LIBRARY_PATH")).Instead(r.config.Instead)
	}
	return r.search
}

// find returns what a name means now: the working directory may have changed, or the file.
func (r *recipe) find(name string) (l library, err error) {
	l.path = name
	if l.file, err = image.Identify(name); err == nil && filepath.IsAbs(name) {
		return l, nil
	}
	if l.path, err = r.finder().Find(name, nil); err != nil {
		return l, err
	}
	l.file, err = image.Identify(l.path)
	return l, err
}

// planFor returns the plan for instances of a library, with its imports bound.
func (p *common) planFor(r *recipe, name string) (*plan.Plan, error) {
	key, err := r.find(name)
	if err != nil {
		return nil, err
	}
	if pl := r.plans[key]; pl != nil {
		return pl, nil
	}
	if r.config.Policy == nil {
		policies, err := plan.ReadPolicies(os.Getenv("TPSL_POLICY"), "")
		if err != nil {
			return nil, err
		}
		r.config.Policy = policies.Opened
	}
	private := reboundPrivately()
	if r.config.Processes {
		private = reboundProcess()
	}
	pl, err := plan.Make(key.path, plan.Options{
		Policy: r.config.Policy, Search: r.finder(), Unified: r.config.Unified,
		Rebind: private, RebindOnce: reboundOnce(),
		Program: r.config.Program, Interposed: r.config.Interposed, Preload: r.config.Preload, StandIn: r.config.StandIn,
		Wrapped: slices.Sorted(maps.Keys(r.config.Wrappers.Functions)), WrappedIn: r.config.Wrappers.Libraries,
		StaticTLS: uint64(C.tpsl_static_tls_size()), LocalExec: bool(C.tpsl_static_tls_is_for_programs()),
		ExecStack: r.config.Processes,
	})
	if err != nil {
		return nil, err
	}
	if err := p.bind(r, pl, nil); err != nil {
		return nil, err
	}
	r.plans[key] = pl
	return pl, nil
}
