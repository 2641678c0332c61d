// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tpsl/tpsl/hydra/hosts"
	"github.com/tpsl/tpsl/pmi"
)

// ErrNobody is the error of a spawn without ranks.
var ErrNobody = errors.New("a spawn of no ranks")

// Spawn returns the plan of a group of ranks that a rank of this plan asks for. It is made like this plan, except for stdin and
// options that name ranks, which apply only to the ranks of the command line. The proxies of its hosts are numbered from firstProxy.
func (p Plan) Spawn(asked pmi.SpawnRequest, number, firstProxy int) (Plan, error) {
	r, s := p.request, p.site
	r.Segments, r.Hosts.RankMap, r.PMI.Singleton = nil, "", nil
	r.Stdio.Stdin, r.Stdio.From = Ranks{}, nil
	first, _, _ := strings.Cut(s.KVSName, ".")
	for _, block := range asked.Blocks {
		segment, err := spawnSegment(block, s.Host)
		if err != nil {
			return Plan{}, err
		}
		r.Segments = append(r.Segments, segment)
	}
	s.KVSName = fmt.Sprintf("%s.%d", first, number)
	plan, err := newPlan(r, s, rankGroup{number: number, firstProxy: firstProxy, spawner: p.site.KVSName, preputs: asked.Preputs})
	if err == nil && len(plan.Hosts) == 0 {
		err = ErrNobody
	}
	return plan, err
}

// spawnSegment obeys the info keys that Hydra obeys.
func spawnSegment(block pmi.SpawnBlock, self string) (Segment, error) {
	segment := Segment{
		Ranks:      block.Ranks,
		PerProcess: 1,
		Mode:       ModeAuto,
		Args:       block.Args,
		Env:        block.Env,
		Wdir:       block.Info["wdir"],
		Path:       block.Info["path"],
		Hosts:      cmp.Or(block.Info["hosts"], block.Info["host"]),
	}
	if file := block.Info["hostfile"]; file != "" && segment.Hosts == "" {
		var err error
		if segment.Hosts, err = spawnHosts(file, self); err != nil {
			return Segment{}, fmt.Errorf("host file: %w", err)
		}
	}
	return segment, nil
}

// spawnHosts lists the hosts of a file that a rank names. The file must not be a pipe, because the job would wait for its writer.
func spawnHosts(file, self string) (string, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", file)
	}
	list, err := hosts.ReadFile(file, self)
	var names []string
	for _, h := range list {
		names = append(names, fmt.Sprintf("%s:%d", h.Name, h.Slots))
	}
	return strings.Join(names, ","), err
}
