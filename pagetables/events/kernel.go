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
	last    *Snapshot
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
	k := &Kernel{files: []string{"anonymous", "other files", "unknown"}, moved: newSnapshot(), last: newSnapshot()}
	if err := k.attach(spec); err != nil {
		return nil, explain(errors.Join(err, k.Close()), lockdown)
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
		if name == kernelProgTasks {
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
	threads, ended, at, err := k.entries()
	if err != nil {
		return nil, err
	}
	tasks, err := k.tasks()
	if err != nil {
		return nil, err
	}
	for owner, c := range k.moved.Owners {
		s.add(owner, c)
	}
	for owner, c := range ended {
		s.add(int(owner), k.counts(&kernelThread{Counts: c}, at))
	}
	for here, t := range tasks {
		thread, followed := threads[t.own]
		if !followed {
			continue
		}
		c := k.counts(&thread, at)
		s.add(int(thread.Owner), c)
		s.Threads[Thread{int(here), int(thread.Owner)}] = c
		delete(threads, t.own)
	}
	err = errors.Join(k.bury(s, threads, at), k.readFaults(s), k.running.Variables["lost"].Get(&s.Lost))
	s.atLeast(k.last)
	k.last = s
	return s, err
}

// bury counts threads that have ended, and forgets those that ended before they were followed: nobody else would, and their
// numbers are used again.
func (k *Kernel) bury(s *Snapshot, dead map[int32]kernelThread, at uint64) error {
	for _, id := range slices.Sorted(maps.Keys(dead)) {
		thread := dead[id]
		s.add(int(thread.Owner), k.counts(&thread, at))
		err := k.running.Maps[kernelMapThreads].LookupAndDelete(id, &thread)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("forget thread %d: %w", id, err)
		}
		k.moved.add(int(thread.Owner), k.counts(&thread, at))
	}
	return nil
}

// entries reads the ended threads, by owner, and then the live ones, at a time after at. One that ends meanwhile is among neither,
// so it begins again then, some times.
func (k *Kernel) entries() (threads map[int32]kernelThread, ended map[int32]kernelCounts, at uint64, err error) {
	const most = 5
	for range most {
		var after map[int32]kernelCounts
		var errs [3]error
		at = clock()
		ended, errs[0] = entriesOf[kernelCounts](k.running.Maps[kernelMapEnded])
		threads, errs[1] = entriesOf[kernelThread](k.running.Maps[kernelMapThreads])
		after, errs[2] = entriesOf[kernelCounts](k.running.Maps[kernelMapEnded])
		if err = errors.Join(errs[:]...); err != nil || maps.Equal(ended, after) {
			break
		}
	}
	return threads, ended, at, err
}

// entriesOf reads a table. When an entry goes meanwhile the kernel may begin anew, and tell others twice.
func entriesOf[V any](table *ebpf.Map) (map[int32]V, error) {
	all := map[int32]V{}
	var key int32
	var value V
	entries := table.Iterate()
	for entries.Next(&key, &value) {
		all[key] = value
	}
	return all, entries.Err()
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
		path := k.files[key.Object] // of several files where one has replaced another
		s.Faults[owner][path] = s.Faults[owner][path].plus(FaultKinds{f.Reads, f.Writes, f.Copies, f.Fetches})
	}
	return entries.Err()
}

// counts turns the kernel's into figures, without those that it cannot count. Times that still run count up to at: up to
// the end of reading, they might be more than they turn out to be.
func (k *Kernel) counts(t *kernelThread, at uint64) Counts {
	n := &t.Counts
	c := Counts{
		Syscalls: n.Syscalls, FutexWaits: n.FutexWaits, FutexTime: n.FutexTime,
		Voluntary: n.Voluntary, Involuntary: n.Involuntary, Migrations: n.Migrations, OffCPU: n.OffCpu,
		Faults: n.FaultsUser + n.FaultsKernel,
	}
	if t.Left != 0 {
		c[OffCPU] += max(at, t.Left) - t.Left
	}
	if t.InFutex != 0 {
		c[FutexTime] += max(at, t.WaitsSince) - t.WaitsSince
	}
	for _, figure := range k.absent {
		delete(c, figure)
	}
	return c
}
