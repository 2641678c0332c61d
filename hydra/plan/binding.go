// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/internal/topology"
)

// Deal gives each of a host's ranks its CPUs. The domains that mapBy names get the ranks in turn, and the ranks of a domain take
// its objects in turn. If the objects of one rank are larger than a domain, they begin at the object that contains the domain.
// When all objects are taken, the deal starts again from the first one.
func (b Binding) Deal(ranks int, mapBy Binding, m *topology.Machine) ([]topology.Set, error) {
	if len(m.CPUs) == 0 {
		return nil, errors.New("no CPU to bind to")
	}
	sets := make([]topology.Set, ranks)
	if b.Object == "user" {
		for _, set := range b.User {
			if other := set.And(m.CPUs); len(other) < len(set) {
				return nil, fmt.Errorf("CPUs %v are not all among %v, which this job may use", set, m.CPUs)
			}
		}
		for i := range sets { // as with Hydra, ranks that the list does not reach are not bound
			sets[i] = m.CPUs
			if i < len(b.User) {
				sets[i] = b.User[i]
			}
		}
		return sets, nil
	}
	if !mapBy.Active() {
		mapBy = b
	}
	objects, err := b.objects(m)
	if err != nil {
		return nil, err
	}
	around, err := mapBy.objects(m)
	if err != nil {
		return nil, err
	}
	domains := groups(around, mapBy.Count)
	choices := make([][]group, len(domains))
	for i, domain := range domains {
		choices[i] = b.within(domain, objects)
	}
	for i := range sets {
		choice := choices[i%len(domains)]
		sets[i] = choice[i/len(domains)%len(choice)].cpus
	}
	return sets, nil
}

// A group is a sequence of neighbouring objects.
type group struct {
	cpus  topology.Set
	first int // a CPU of the first object
}

// groups makes groups of count neighbouring objects. The neighbour of the last object is the first one. It ends when a group would
// begin at the first object again.
func groups(objects []topology.Set, count int) []group {
	count = max(1, min(count, len(objects)))
	var joined []group
	for i := 0; i == 0 || i%len(objects) != 0; i += count {
		g := group{first: objects[i%len(objects)][0]}
		for k := range count {
			g.cpus = g.cpus.Or(objects[(i+k)%len(objects)])
		}
		joined = append(joined, g)
	}
	return joined
}

// within returns the groups of objects that ranks in a domain take in turn.
func (b Binding) within(domain group, objects []topology.Set) []group {
	inside := slices.DeleteFunc(slices.Clone(objects), func(o topology.Set) bool { return len(o.And(domain.cpus)) < len(o) })
	if len(inside) > b.Count {
		return groups(inside, b.Count)
	}
	first := max(0, slices.IndexFunc(objects, func(o topology.Set) bool { return o.Has(domain.first) }))
	return groups(slices.Concat(objects[first:], objects[:first]), b.Count)[:1]
}

// objects lists the CPUs of each object that the binding names.
func (b Binding) objects(m *topology.Machine) ([]topology.Set, error) {
	var sets []topology.Set
	switch b.Object {
	case "rr":
		for _, cpu := range m.CPUs {
			sets = append(sets, topology.Set{cpu})
		}
	case "pci", "gpu", "ib", "en", "hfi", "hsn":
		for _, d := range b.devices(m) {
			if len(d.CPUs) > 0 {
				sets = append(sets, d.CPUs)
			}
		}
	default:
		for _, object := range m.Objects(topology.Kind(b.Object)) {
			sets = append(sets, object.CPUs)
		}
	}
	switch {
	case len(sets) > 0:
		return sets, nil
	case strings.HasSuffix(b.Object, "cache"): // kernels of some virtual machines tell of none
		return nil, fmt.Errorf("the kernel tells of no %v near CPUs %v, which this job may use: bind to core, numa or socket", b, m.CPUs)
	}
	return nil, fmt.Errorf("there is no %v near CPUs %v, which this job may use", b, m.CPUs)
}

// devices returns the PCI devices that the binding names, by their address, by their number or by a name of theirs.
func (b Binding) devices(m *topology.Machine) []topology.Device {
	if b.Object == "pci" {
		if d, found := m.PCI(b.ID); found {
			return []topology.Device{d}
		}
		return nil
	}
	if b.Object == "gpu" {
		gpus := m.GPUs()
		if n, err := strconv.Atoi(b.ID); err == nil && n < len(gpus) {
			return gpus[n : n+1]
		} else if b.ID != "" {
			return nil
		}
		return gpus
	}
	return slices.DeleteFunc(slices.Clone(m.Devices), func(d topology.Device) bool {
		names := d.Net
		if b.Object == "hfi" {
			names = d.RDMA
		}
		return !slices.ContainsFunc(names, b.names)
	})
}

// names reports whether the binding means a device. For example, ib means ib0, and en means eth0 too.
func (b Binding) names(device string) bool {
	prefixes := []string{b.Object}
	if b.Object == "en" {
		prefixes = append(prefixes, "eth")
	}
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		return device == prefix+b.ID || b.ID == "" && strings.HasPrefix(device, prefix)
	})
}

// Pin gives CPUs to the ranks that share a process, if the user has not bound ranks and there are enough CPUs. Otherwise OpenMP or
// the kernel would place these ranks, and could put several on one CPU. private tells for each program whether its ranks are
// processes of their own.
//
// A thread that is a rank gets one CPU. A rank that is a process of its own may have threads, so it gets its part of all CPUs,
// unless the host also has ranks that are threads. If settings tell OpenMP which CPUs to use, Pin leaves the ranks to OpenMP.
func (h Host) Pin(p Placement, private []bool, m *topology.Machine) Placement {
	if h.Hardware.Bind.Object != "" || len(m.CPUs) < h.Ranks {
		return p
	}
	one, part := m.CoresFirst(), m.Blocks(h.Ranks)
	p.CPUs = make([]topology.Set, h.Ranks)
	threads := slices.ContainsFunc(p.Sets, func(set RankSet) bool { return len(set.Ranks) > 1 && !private[set.Program] })
	for _, set := range p.Sets {
		if len(set.Ranks) == 1 || choosesCPUs(h.Programs[set.Program].Env, private[set.Program]) {
			continue
		}
		for local := set.Local; local < set.Local+len(set.Ranks); local++ {
			if threads {
				p.CPUs[local] = topology.Set{one[local]}
			} else {
				p.CPUs[local] = part[local]
			}
		}
	}
	return p
}

// choosesCPUs reports whether settings tell OpenMP which CPUs to use. In a rank that is a process of its own, OpenMP takes its
// places from the CPUs of the rank, unless the settings name CPUs by number.
func choosesCPUs(env []string, private bool) bool {
	_, binds := Getenv(env, "OMP_PROC_BIND")
	_, affinity := Getenv(env, "GOMP_CPU_AFFINITY")
	places, _ := Getenv(env, "OMP_PLACES")
	return affinity || binds && (!private || strings.Contains(places, "{"))
}
