// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Binding is what -bind-to asks for. The zero value leaves ranks where the scheduler puts them.
type Binding struct {
	Object string  // "", "none", "core", "hwthread" or "user"
	Count  int     // objects for each rank
	User   [][]int // CPUs for each rank, used in turn
}

// Active reports whether ranks are bound.
func (b Binding) Active() bool { return b.Object != "" && b.Object != "none" }

// ParseBinding reads none, core[:N], hwthread[:N] or user:0+2,1+3.
func ParseBinding(text string) (Binding, error) {
	object, rest, found := strings.Cut(text, ":")
	b := Binding{Object: strings.ToLower(object), Count: 1}
	var err error
	switch {
	case b.Object == "none" && !found:
	case b.Object == "core" || b.Object == "hwthread":
		if found {
			b.Count, err = strconv.Atoi(rest)
		}
		if err != nil || b.Count < 1 {
			return Binding{}, fmt.Errorf("%q is not a positive number of objects", rest)
		}
	case b.Object == "user" && found:
		b.User, err = parseUserBinding(rest)
	default:
		err = fmt.Errorf("%q is not one of none, core[:N], hwthread[:N], user:LIST", text)
	}
	return b, err
}

func parseUserBinding(list string) ([][]int, error) {
	var sets [][]int
	for rank := range strings.SplitSeq(list, ",") {
		var cpus []int
		for text := range strings.SplitSeq(rank, "+") {
			cpu, err := strconv.Atoi(text)
			if err != nil || cpu < 0 {
				return nil, fmt.Errorf("%q is not a CPU number", text)
			}
			cpus = append(cpus, cpu)
		}
		slices.Sort(cpus)
		sets = append(sets, slices.Compact(cpus))
	}
	return sets, nil
}

// A CPU is a hardware thread that ranks may run on.
type CPU struct {
	ID, Core, Package int
}

// Deal gives each of ranks local ranks its CPUs, out of the allowed ones.
func (b Binding) Deal(ranks int, allowed []CPU) ([][]int, error) {
	objects := b.User
	switch b.Object {
	case "hwthread":
		objects = group(allowed, func(a, b CPU) bool { return a.ID == b.ID })
	case "core":
		objects = group(allowed, func(a, b CPU) bool { return a.Core == b.Core && a.Package == b.Package })
	case "user":
		if err := checkAllowed(objects, allowed); err != nil {
			return nil, err
		}
	}
	if len(objects) == 0 {
		return nil, errors.New("no CPU to bind to")
	}
	sets := make([][]int, ranks)
	for i := range sets {
		for k := range min(b.Count, len(objects)) {
			sets[i] = append(sets[i], objects[(i*b.Count+k)%len(objects)]...)
		}
		slices.Sort(sets[i])
	}
	return sets, nil
}

// group sorts CPUs by package, core and number, as hwloc numbers them, and joins neighbours that are the same object.
func group(cpus []CPU, same func(a, b CPU) bool) [][]int {
	cpus = slices.Clone(cpus)
	slices.SortFunc(cpus, func(a, b CPU) int {
		return slices.Compare([]int{a.Package, a.Core, a.ID}, []int{b.Package, b.Core, b.ID})
	})
	var objects [][]int
	for i, cpu := range cpus {
		if i == 0 || !same(cpus[i-1], cpu) {
			objects = append(objects, nil)
		}
		objects[len(objects)-1] = append(objects[len(objects)-1], cpu.ID)
	}
	return objects
}

func checkAllowed(sets [][]int, allowed []CPU) error {
	for _, set := range sets {
		for _, id := range set {
			if !slices.ContainsFunc(allowed, func(c CPU) bool { return c.ID == id }) {
				return fmt.Errorf("CPU %d is not among those this job may use", id)
			}
		}
	}
	return nil
}

// CPUList writes CPU numbers as taskset(1) reads them: 0-3,8.
func CPUList(cpus []int) string { return rankList(cpus) }
