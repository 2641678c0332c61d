// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"cmp"
	"slices"
)

// defaultFanout is how many proxies one process starts on other hosts.
const defaultFanout = 32

// A Branch is a host and those whose proxies are started from there.
type Branch struct {
	Host  Host
	Below []Branch
}

// IDs lists the proxies of the branch.
func (b Branch) IDs() []int {
	ids := []int{b.Host.ID}
	for _, below := range b.Below {
		ids = append(ids, below.IDs()...)
	}
	return ids
}

// Keys lists the keys of the branch's hosts.
func (b Branch) Keys() []string {
	keys := []string{b.Host.Key}
	for _, below := range b.Below {
		keys = append(keys, below.Keys()...)
	}
	return keys
}

// ranks lists the ranks of the branch's hosts.
func (b Branch) ranks() []int {
	ranks := slices.Clone(b.Host.Ranks)
	for _, below := range b.Below {
		ranks = append(ranks, below.ranks()...)
	}
	return ranks
}

// Tree decides which process starts which proxy. mpiexec starts the proxies of its own host. It also starts every proxy if the
// launcher works only on the host of mpiexec. With fork all proxies are on this host. A tree would then only cost time, so there is
// none unless the user asks for it.
func Tree(hosts []Host, opts Options) []Branch {
	fanout := cmp.Or(opts.Fanout, defaultFanout)
	if opts.Launcher == "fork" && opts.Fanout == 0 || !slices.Contains([]string{"", "ssh", "rsh", "fork"}, opts.Launcher) {
		fanout = len(hosts)
	}
	var here []Branch
	var far []Host
	for _, host := range hosts {
		if opts.Launcher != "fork" && opts.isHere(host) {
			here = append(here, Branch{Host: host})
		} else {
			far = append(far, host)
		}
	}
	return append(here, split(far, fanout)...)
}

// split cuts hosts into at most fanout branches of about the same size.
func split(hosts []Host, fanout int) (branches []Branch) {
	heads := min(fanout, len(hosts))
	for i := range heads {
		block := hosts[i*len(hosts)/heads : (i+1)*len(hosts)/heads]
		branches = append(branches, Branch{block[0], split(block[1:], fanout)})
	}
	return branches
}
