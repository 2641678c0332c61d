// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/pmi"
)

// A Plan says which ranks run where. Making one is deterministic and touches no system state.
type Plan struct {
	Size  int
	Hosts []HostPlan
}

// A HostPlan is everything the proxy of one host needs to know; it travels in the launch frame.
type HostPlan struct {
	ID        int // index of the proxy
	Host      string
	World     pmi.World
	PMI       PMIOptions
	Programs  []Program
	Sets      []RankSet
	Ranks     int // on this host
	Placement PlacementOptions
	Stdio     StdioOptions
	Dir       string // mpiexec's, in which relative names of output files are
	Prompt    bool   // send unfinished lines after a pause: someone reads along at a terminal
	ColourOut bool   // of labels on stdout
	ColourErr bool
	Trace     bool
}

// Encode returns the plan as the launch frame carries it. Gob keeps arguments and settings that are not UTF-8.
func (h HostPlan) Encode() []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(h); err != nil {
		panic(err) // a HostPlan is plain data
	}
	return b.Bytes()
}

// DecodeHostPlan reads what Encode wrote.
func DecodeHostPlan(b []byte) (h HostPlan, err error) {
	if err = gob.NewDecoder(bytes.NewReader(b)).Decode(&h); err != nil {
		return HostPlan{}, fmt.Errorf("read plan: %w", err)
	}
	return h, nil
}

// A Program is what the ranks of one segment run.
type Program struct {
	Args       []string
	Env        []string // complete but for what the proxy adds per set
	Wdir       string
	Mode       Mode
	PerProcess int // ranks in one process, as asked for
}

// A RankSet is the ranks that the launcher gives to one process.
type RankSet struct {
	Program int // index in Programs, the ranks' appnum
	Ranks   []int
	Local   int // index of its first rank among the host's ranks
}

// Only returns the part of the set that one rank is.
func (s RankSet) Only(rank int) RankSet {
	i := slices.Index(s.Ranks, rank)
	return RankSet{Program: s.Program, Ranks: s.Ranks[i : i+1], Local: s.Local + i}
}

// Label names the set as output labels and reports do: "3", "4-7", "0,2".
func (s RankSet) Label() string { return rankList(s.Ranks) }

// A Setting is what a plan depends on besides the options.
type Setting struct {
	Host    string
	Dir     string // current directory
	Environ []string
	KVSName string
	Prompt  bool

	ColourOut, ColourErr bool
}

// NewPlan places the ranks of all segments on the one host of s.
func NewPlan(opts Options, s Setting) Plan {
	host := HostPlan{
		Host:      s.Host,
		PMI:       opts.PMI,
		Placement: opts.Placement,
		Stdio:     opts.Stdio.defaults(),
		Dir:       s.Dir,
		Prompt:    s.Prompt,
		ColourOut: s.ColourOut,
		ColourErr: s.ColourErr,
		Trace:     opts.Verbose,
	}
	host.PMI.Trace = opts.PMI.Trace || opts.Verbose
	for i, segment := range opts.Segments {
		segment.Ranks = max(segment.Ranks, 1)
		wdir := segment.Wdir
		if !filepath.IsAbs(wdir) {
			wdir = filepath.Join(s.Dir, wdir)
		}
		host.Programs = append(host.Programs, Program{
			Args:       segment.Args,
			Env:        rankEnviron(s.Environ, opts, segment),
			Wdir:       wdir,
			Mode:       segment.Mode,
			PerProcess: segment.PerProcess,
		})
		host.Sets = append(host.Sets, cutSets(i, segment, host.Ranks)...)
		host.Ranks += segment.Ranks
	}
	host.World = pmi.World{
		Size:    host.Ranks,
		KVSName: s.KVSName,
		Mapping: pmi.Mapping(pmi.BlocksOf([]int{host.Ranks})),
	}
	return Plan{Size: host.Ranks, Hosts: []HostPlan{host}}
}

// cutSets cuts the ranks of a segment, in rank order, into sets of PerProcess; the last one takes the rest.
func cutSets(program int, segment Segment, first int) []RankSet {
	var sets []RankSet
	for start := 0; start < segment.Ranks; start += segment.PerProcess {
		set := RankSet{Program: program, Local: first + start}
		for i := start; i < min(start+segment.PerProcess, segment.Ranks); i++ {
			set.Ranks = append(set.Ranks, first+i)
		}
		sets = append(sets, set)
	}
	return sets
}

// rankList writes ranks as ranges: 0-2,5.
func rankList(ranks []int) string {
	var parts []string
	for len(ranks) > 0 {
		n := 1
		for n < len(ranks) && ranks[n] == ranks[0]+n {
			n++
		}
		part := strconv.Itoa(ranks[0])
		if n > 1 {
			part = fmt.Sprintf("%d-%d", ranks[0], ranks[n-1])
		}
		parts = append(parts, part)
		ranks = ranks[n:]
	}
	return strings.Join(parts, ",")
}

// Holds reports whether the set has the rank.
func (s RankSet) Holds(rank int) bool { return slices.Contains(s.Ranks, rank) }
