// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"slices"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/pmi"
)

// A birth is the start of a spawned world, until every rank of it runs.
type birth struct {
	parent  *proxyLink
	id      int // of the request
	request pmi.SpawnRequest
	running int // number of proxies whose ranks run
}

// Codes of the ranks of a world that could not be spawned.
const (
	spawnFailed     = 1 // its program cannot run, or its host failed
	spawnNotStarted = 2 // the program of other ranks cannot run
)

// spawn starts a world at the request of a rank. It replies when all ranks of the world run, or when none will.
func (j *Job) spawn(e event) {
	b := &birth{parent: e.link, id: e.frame.Index}
	err := e.frame.Value(&b.request)
	var made plan.Plan
	if err == nil {
		made, err = e.link.world.plan.Spawn(b.request, len(j.worlds), len(j.proxies))
	}
	if err != nil {
		j.stderr.line("mpiexec: spawn: " + err.Error()) // a client of PMIx only gets a number
	} else if j.ending || j.grace != nil {
		err = pmi.ErrClosed
	}
	if err != nil {
		b.answer(pmi.SpawnReply{Error: err.Error(), Codes: b.codes(-1)})
		return
	}
	j.log.Debug("spawn", "ranks", made.Size, "group", len(j.worlds))
	j.addWorld(made).birth = b
}

// started notes that all ranks of one more host run.
func (j *Job) started(w *world) {
	if w.birth == nil {
		return
	}
	if w.birth.running++; w.birth.running == len(w.links) {
		w.birth.answer(pmi.SpawnReply{KVSName: w.plan.Hosts[0].World.KVSName})
		w.birth = nil
	}
}

// refuse ends the ranks of a world that cannot be spawned as a whole. The job goes on: the rank that asked decides what to do.
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

// codes returns a code for each rank of the request. program is the index of the program at fault, or -1 if all ranks failed.
func (b *birth) codes(program int) (codes []int) {
	for i, block := range b.request.Blocks {
		code := spawnNotStarted
		if i == program || program < 0 {
			code = spawnFailed
		}
		codes = append(codes, slices.Repeat([]int{code}, max(0, min(block.Ranks, plan.MaxRanks)))...)
	}
	return codes
}
