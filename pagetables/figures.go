// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

// Figures are bytes. Resident is the sum of the four that follow it.
type Figures struct {
	Mapped       uint64 `json:"mapped"`
	Resident     uint64 `json:"resident"`
	SharedClean  uint64 `json:"shared_clean"` // mapped elsewhere too: in this process or another
	SharedDirty  uint64 `json:"shared_dirty"`
	PrivateClean uint64 `json:"private_clean"` // mapped here only
	PrivateDirty uint64 `json:"private_dirty"`
	Anonymous    uint64 `json:"anonymous"` // of Resident: memory of no file
	Copied       uint64 `json:"copied"`    // of Anonymous: pages of a file, copied on write
	Swapped      uint64 `json:"swapped"`
	Huge         uint64 `json:"huge"`   // mapped by huge pages
	Tables       uint64 `json:"tables"` // page tables; one that several rows need is shared out
	Nodes        Nodes  `json:"nodes,omitempty"`
}

// Nodes are resident bytes by NUMA node; those of node -1 are not known.
type Nodes map[int]uint64

// counts lists the figures that are plain sums.
func (f *Figures) counts() [11]*uint64 {
	return [...]*uint64{&f.Mapped, &f.Resident, &f.SharedClean, &f.SharedDirty, &f.PrivateClean, &f.PrivateDirty,
		&f.Anonymous, &f.Copied, &f.Swapped, &f.Huge, &f.Tables}
}

// Add adds another's figures.
func (f *Figures) Add(other *Figures) {
	to, from := f.counts(), other.counts()
	for i := range to {
		*to[i] += *from[i]
	}
	f.Nodes.add(other.Nodes, &f.Nodes)
}

func (n Nodes) add(other Nodes, made *Nodes) {
	if n == nil && len(other) > 0 {
		n = Nodes{}
		*made = n
	}
	for node, bytes := range other {
		n[node] += bytes
	}
}

// complete counts what numa_maps leaves out, such as pages of the kernel's own, to node -1.
func (n Nodes) complete(resident uint64, made *Nodes) {
	for _, bytes := range n {
		resident -= min(bytes, resident)
	}
	if resident > 0 {
		n.add(Nodes{-1: resident}, made)
	}
}
