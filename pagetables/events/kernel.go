// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64

package events

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
)

// A Kernel counts in the kernel what happens to the threads that it follows, and to those
// that they start. Close ends that; without it, the end of this process does.
type Kernel struct {
	running *ebpf.Collection
	links   []link.Link
	absent  []Figure
	files   []string  // objects by their numbers
	moved   *Snapshot // what threads did for former owners
}

// needed says which programs a figure comes from.
var needed = map[Figure][]string{
	Syscalls:    {kernelProgEnter},
	FutexWaits:  {kernelProgEnter},
	FutexTime:   {kernelProgEnter, kernelProgLeave},
	Voluntary:   {kernelProgChange},
	Involuntary: {kernelProgChange},
	OffCPU:      {kernelProgChange},
	Migrations:  {kernelProgMigrate},
	Faults:      {kernelProgFaultUser, kernelProgFaultKernel},
}

// Start loads the programs and begins to count; nothing is followed yet. It fails with ErrDenied or
// ErrUnsupported. A kernel that lacks a tracepoint lacks its figures, see Absent.
func Start() (*Kernel, error) {
	spec, err := loadKernel()
	if err != nil {
		return nil, err
	}
	return start(spec)
}

func start(spec *ebpf.CollectionSpec) (*Kernel, error) {
	k := &Kernel{files: []string{"anonymous", "other files"}, moved: newSnapshot()}
	if err := k.attach(spec); err != nil {
		return nil, explain(errors.Join(err, k.Close()))
	}
	return k, nil
}

func (k *Kernel) attach(spec *ebpf.CollectionSpec) error {
	// Before Linux 5.11 maps count as locked memory. If the limit stays, loading says so.
	_ = rlimit.RemoveMemlock()
	types, err := btf.LoadKernelSpec()
	if err != nil {
		return err
	}
	k.absent = withoutAbsent(spec, types)
	if k.running, err = ebpf.NewCollection(spec); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(k.running.Programs)) {
		if name == kernelProgNumbers {
			continue
		}
		l, err := link.AttachTracing(link.TracingOptions{Program: k.running.Programs[name]})
		if err != nil {
			return fmt.Errorf("attach %s: %w", name, err)
		}
		k.links = append(k.links, l)
	}
	return nil
}

// withoutAbsent takes the programs out whose tracepoints the kernel lacks and returns the figures
// that lack them.
func withoutAbsent(spec *ebpf.CollectionSpec, types *btf.Spec) (absent []Figure) {
	for name, program := range spec.Programs {
		if program.AttachType != ebpf.AttachTraceRawTp {
			continue
		}
		if _, err := types.AnyTypesByName("btf_trace_" + program.AttachTo); err != nil {
			delete(spec.Programs, name)
		}
	}
	for _, figure := range Figures {
		if slices.ContainsFunc(needed[figure], func(name string) bool { return spec.Programs[name] == nil }) {
			absent = append(absent, figure)
		}
	}
	return absent
}

// Absent implements Source: what this kernel has no tracepoint for.
func (k *Kernel) Absent() []Figure { return k.absent }

// Close ends counting.
func (k *Kernel) Close() error {
	var errs []error
	for _, l := range k.links {
		errs = append(errs, l.Close())
	}
	k.links = nil
	if k.running != nil {
		k.running.Close()
	}
	return errors.Join(errs...)
}

// Follow implements Source.
func (k *Kernel) Follow(threads ...Thread) error { return k.each(threads, k.follow) }

// Adopt implements Source.
func (k *Kernel) Adopt(threads ...Thread) error { return k.each(threads, k.adopt) }

// each calls do with each thread's own number in the kernel.
func (k *Kernel) each(threads []Thread, do func(id, owner int32) error) error {
	kernel, err := k.numbers()
	if err != nil {
		return err
	}
	for _, thread := range threads {
		id, alive := kernel[int32(thread.ID)]
		if !alive {
			continue
		}
		if err := do(id, int32(thread.Owner)); err != nil {
			return fmt.Errorf("follow thread %d: %w", thread.ID, err)
		}
	}
	return nil
}

// follow keeps for the former owner what was counted for it.
func (k *Kernel) follow(id, owner int32) error {
	table := k.running.Maps[kernelMapThreads]
	var known kernelThread
	err := table.Lookup(id, &known)
	if err == nil && known.Owner == owner {
		return nil
	}
	if err == nil {
		err = table.LookupAndDelete(id, &known)
	}
	if err == nil {
		k.moved.add(int(known.Owner), k.counts(&known.Counts))
	} else if !errors.Is(err, ebpf.ErrKeyNotExist) {
		return err
	}
	return k.adopt(id, owner)
}

func (k *Kernel) adopt(id, owner int32) error {
	err := k.running.Maps[kernelMapThreads].Update(id, &kernelThread{Owner: owner}, ebpf.UpdateNoExist)
	if errors.Is(err, ebpf.ErrKeyExist) {
		return nil
	}
	return err
}

// Name implements Source.
func (k *Kernel) Name(file File, path string) error {
	key := kernelObject{Inode: file.Inode, Device: file.Major<<20 | file.Minor}
	err := k.running.Maps[kernelMapObjects].Update(key, uint32(len(k.files)), ebpf.UpdateNoExist)
	if errors.Is(err, ebpf.ErrKeyExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("name %s: %w", path, err)
	}
	k.files = append(k.files, path)
	return nil
}

// Read implements Source.
func (k *Kernel) Read() (*Snapshot, error) {
	s := newSnapshot()
	kernel, err := k.numbers()
	if err != nil {
		return nil, err
	}
	for owner, c := range k.moved.Owners {
		s.add(owner, c)
	}
	return s, errors.Join(k.readThreads(s, kernel), k.readEnded(s), k.readFaults(s), k.running.Variables["lost"].Get(&s.Lost))
}

func (k *Kernel) readThreads(s *Snapshot, kernel map[int32]int32) error {
	seen := map[int32]int32{}
	for here, own := range kernel {
		seen[own] = here
	}
	var id int32
	var thread kernelThread
	entries := k.running.Maps[kernelMapThreads].Iterate()
	for entries.Next(&id, &thread) {
		c := k.counts(&thread.Counts)
		s.add(int(thread.Owner), c)
		s.Threads[Thread{int(seen[id]), int(thread.Owner)}] = c
	}
	return entries.Err()
}

func (k *Kernel) readEnded(s *Snapshot) error {
	var owner int32
	var c kernelCounts
	entries := k.running.Maps[kernelMapEnded].Iterate()
	for entries.Next(&owner, &c) {
		s.add(int(owner), k.counts(&c))
	}
	return entries.Err()
}

func (k *Kernel) readFaults(s *Snapshot) error {
	s.Faults = map[int]map[string]FaultKinds{}
	var key kernelFaultKey
	var f kernelFaultCounts
	entries := k.running.Maps[kernelMapFaults].Iterate()
	for entries.Next(&key, &f) {
		owner := int(key.Owner)
		if s.Faults[owner] == nil {
			s.Faults[owner] = map[string]FaultKinds{}
		}
		s.Faults[owner][k.files[key.Object]] = FaultKinds{f.Reads, f.Writes, f.Copies, f.Fetches}
	}
	return entries.Err()
}

// counts turns the kernel's into figures, without those that it cannot count.
func (k *Kernel) counts(n *kernelCounts) Counts {
	c := Counts{
		Syscalls: n.Syscalls, FutexWaits: n.FutexWaits, FutexTime: n.FutexTime,
		Voluntary: n.Voluntary, Involuntary: n.Involuntary, Migrations: n.Migrations, OffCPU: n.OffCpu,
		Faults: n.FaultsUser + n.FaultsKernel,
	}
	for _, figure := range k.absent {
		delete(c, figure)
	}
	return c
}
