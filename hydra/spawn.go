// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"slices"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
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
	var made plan.Plan
	if err == nil {
		made, err = e.link.world.plan.Spawn(b.request, len(j.worlds), len(j.proxies))
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
	j.log.Debug("spawn", "ranks", made.Size, "group", len(j.worlds))
	j.addWorld(made).birth = b
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
		codes = append(codes, slices.Repeat([]int{code}, max(0, min(block.Ranks, plan.MaxRanks)))...)
	}
	return codes
}
