// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/hosts"
	"github.com/tpsl/tpsl/pmi"
)

// A birth is a spawned world of which not every rank runs yet.
type birth struct {
	parent  *proxyLink
	id      int // of the request
	request pmi.SpawnRequest
	running int // proxies whose ranks do
}

// Codes of the ranks of a world that could not be spawned.
const (
	spawnFailed     = 1 // the program cannot run, or its host
	spawnNotStarted = 2 // as another one cannot
)

// spawn starts a world at the request of a rank. The reply comes when all its ranks run, or none do.
func (j *Job) spawn(e event) {
	b := &birth{parent: e.link, id: e.frame.Index}
	err := e.frame.Value(&b.request)
	var plan Plan
	if err == nil {
		plan, err = e.link.world.plan.spawned(b.request, len(j.worlds))
	}
	if err != nil {
		j.stderr.line("mpiexec: spawn: " + err.Error()) // clients of PMIx are given no more than a number
	} else if j.ending || j.grace != nil {
		err = pmi.ErrClosed
	}
	if err != nil {
		b.answer(pmi.SpawnReply{Error: err.Error(), Codes: b.codes(-1)})
		return
	}
	j.log.Debug("spawn", "ranks", plan.Size, "group", len(j.worlds))
	j.addWorld(plan).birth = b
}

// started notes that all ranks of a host run.
func (j *Job) started(w *world) {
	if w.birth == nil {
		return
	}
	if w.birth.running++; w.birth.running == len(w.links) {
		w.birth.answer(pmi.SpawnReply{KVSName: w.plan.Hosts[0].World.KVSName})
		w.birth = nil
	}
}

// refuse ends what runs of a world that cannot be spawned, and leaves it to the rank that asked what becomes of the job.
func (j *Job) refuse(w *world, program int, text string) {
	j.stderr.line("mpiexec: spawn: " + text)
	for _, link := range w.links {
		link.conn.Send(channel.Kill, 0, nil)
	}
	w.birth.answer(pmi.SpawnReply{Error: text, Codes: w.birth.codes(program)})
	w.birth, w.refused = nil, true
}

func (b *birth) answer(reply pmi.SpawnReply) {
	b.parent.conn.Answer(b.id, reply)
}

// codes returns those of all ranks. Without a program at fault every one failed.
func (b *birth) codes(program int) (codes []int) {
	for i, block := range b.request.Blocks {
		code := spawnNotStarted
		if i == program || program < 0 {
			code = spawnFailed
		}
		codes = append(codes, slices.Repeat([]int{code}, max(0, min(block.Ranks, maxRanks)))...)
	}
	return codes
}

var errNobody = errors.New("a spawn of no ranks")

// spawned returns the plan of a world that a rank of this one asks for. It is made as this one was, but for what belongs to the
// ranks of the command line: stdin, and options that name ranks.
func (p Plan) spawned(request pmi.SpawnRequest, group int) (Plan, error) {
	opts, s := p.opts, p.setting
	opts.Segments, opts.Hosts.RankMap, opts.PMI.Singleton = nil, "", nil
	opts.Stdio.Stdin, opts.Stdio.From = Ranks{}, nil
	first, _, _ := strings.Cut(s.KVSName, ".")
	for _, block := range request.Blocks {
		segment, err := spawnSegment(block, s.Host)
		if err != nil {
			return Plan{}, err
		}
		opts.Segments = append(opts.Segments, segment)
	}
	s.KVSName = fmt.Sprintf("%s.%d", first, group)
	plan, err := NewPlan(opts, s)
	if err == nil && len(plan.Hosts) == 0 {
		err = errNobody
	}
	for i := range plan.Hosts {
		host := &plan.Hosts[i]
		host.Group = group
		host.World.Spawner, host.World.Preputs = p.setting.KVSName, request.Preputs
	}
	return plan, err
}

// spawnSegment obeys the info keys that Hydra does.
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

// spawnHosts lists the hosts of a file that a rank names. It is no pipe: the job would wait for who writes it.
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
