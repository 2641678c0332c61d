// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/pmi"
)

// pmixCall serves what the helper asks for on behalf of ranks: hydra/pmix/main.c has the words.
func (p *proxy) pmixCall(verb string, words []string) {
	if len(words) < 2 {
		return
	}
	id, words := words[0], words[1:]
	switch verb {
	case "fence", "connect", "disconnect":
		p.meet(verb, id, words)
	case "log":
		p.pmix.later(func() { p.logged(id, words) })
	case "get":
		go p.getModex(id, words)
	case "modexed":
		p.modexed(id, words[0])
	case "publish", "lookup", "unpublish":
		go p.pmixNames(verb, id, words)
	case "spawn":
		go p.pmixSpawn(id, words)
	}
}

// done answers a call, on a goroutine: while the helper has much to say it may not listen, and who reads it must not wait for
// that. The values stand behind the outcome.
func (x *pmix) done(id string, err error, values ...string) {
	outcome := "failed"
	switch {
	case err == nil:
		outcome = "ok"
	case err.Error() == pmi.ErrPublished.Error():
		outcome = "exists"
	case err.Error() == pmi.ErrNotPublished.Error():
		outcome = "missing"
	}
	go x.tell("done", id, outcome, strings.Join(values, " "))
}

// word writes bytes as the helper reads them.
func word(bytes []byte) string {
	if len(bytes) == 0 {
		return "-"
	}
	return hex.EncodeToString(bytes)
}

// bytesOf reads a word, which the helper wrote.
func bytesOf(word string) []byte {
	bytes, _ := hex.DecodeString(strings.TrimPrefix(word, "-"))
	return bytes
}

// later shows something after what came before it. That may wait for whoever reads our output, as ranks must not for each other.
func (x *pmix) later(show func()) {
	before, shown := x.shown, make(chan struct{})
	x.shown = shown
	go func() {
		defer close(shown)
		<-before
		show()
	}()
}

// logged shows what the MPI library of a rank has to say, which it does not write itself.
func (p *proxy) logged(id string, words []string) {
	if rank, err := strconv.Atoi(words[0]); err == nil && p.pmix.env[rank] != nil {
		p.mu.Lock()
		from := p.processOf(rank).set
		p.mu.Unlock()
		lines := p.cutter(from, channel.Stderr)
		lines.write(bytesOf(words[len(words)-1]))
		lines.flush()
	}
	p.pmix.done(id, nil)
}

// meet brings ranks together and, with what theirs have put, all others' puts. Ranks of this world do so in the tree of
// barriers, those of several at mpiexec.
func (p *proxy) meet(verb, id string, words []string) {
	who, here := p.whoMeets(words[0])
	arrival := pmi.Arrival{Count: here, Puts: []pmi.Entry{{Key: strconv.Itoa(p.host.ID), Value: string(bytesOf(words[1]))}}}
	leave := func(union []pmi.Entry, err error) {
		var all []byte
		for _, e := range union {
			all = append(all, e.Value...)
		}
		p.pmix.done(id, err, word(all))
	}
	own, isOwn := who[p.host.World.KVSName]
	if isOwn && len(who) == 1 {
		arrival.Barrier = strings.Replace(own, "*", "WORLD", 1) + ":" + verb
		p.pmix.gather.Enter(arrival, leave)
		return
	}
	arrival.Barrier = verb + " "
	for i, space := range slices.Sorted(maps.Keys(who)) {
		if i > 0 {
			arrival.Barrier += ";"
		}
		arrival.Barrier += space + ":" + who[space]
	}
	go func() {
		union, err := p.meetOthers(arrival, slices.Sorted(maps.Keys(who)))
		leave(union, err)
	}()
}

// meetOthers lets ranks meet those of other worlds, which they know of from then on.
func (p *proxy) meetOthers(arrival pmi.Arrival, spaces []string) (union []pmi.Entry, err error) {
	for _, space := range spaces {
		if err := p.describePMIx(space); err != nil {
			return nil, err
		}
	}
	frame, err := p.up.ask(channel.MeetRequest, arrival.Append(nil))
	if err != nil {
		return nil, err
	}
	arrival, err = pmi.ParseArrival(frame.Body)
	return arrival.Puts, err
}

// whoMeets reads who comes together: for each world a list of ranks, or a star for all of them. It counts those of this host.
func (p *proxy) whoMeets(text string) (who map[string]string, here int) {
	ranks := map[string][]int{}
	who = map[string]string{}
	for one := range strings.SplitSeq(text, ",") {
		space, rank, _ := strings.Cut(one, ":")
		if n, err := strconv.Atoi(rank); err == nil {
			ranks[space] = append(ranks[space], n)
		} else {
			who[space] = "*"
		}
	}
	local := p.host.LocalRanks()
	if who[p.host.World.KVSName] == "*" {
		here = len(local)
	}
	for space, list := range ranks {
		if who[space] == "*" {
			continue
		}
		slices.Sort(list)
		list = slices.Compact(list)
		who[space] = ranges.List(list)
		if space == p.host.World.KVSName {
			here = len(slices.DeleteFunc(local, func(rank int) bool { return !slices.Contains(list, rank) }))
		}
	}
	return who, here
}

// getModex asks for what a rank of another host has put.
func (p *proxy) getModex(id string, words []string) {
	rank, err := strconv.Atoi(words[len(words)-1])
	var answer channel.Modex
	if err == nil {
		err = p.up.askValue(channel.ModexRequest, channel.Modex{Space: words[0], Rank: rank}, &answer)
	}
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	p.pmix.done(id, err, word([]byte(answer.Data)))
}

// query has the helper tell what a rank of this host has put, when it has. It does not wait either.
func (x *pmix) query(frame channel.Frame) {
	var query channel.Modex
	if x != nil && frame.Value(&query) == nil {
		go x.tell("modex", strconv.Itoa(query.Proxy)+":"+strconv.Itoa(query.ID), query.Rank)
	}
}

// modexed passes on what query brought.
func (p *proxy) modexed(token, data string) {
	proxy, id, _ := strings.Cut(token, ":")
	reply := channel.Modex{Data: string(bytesOf(data))}
	reply.Proxy, _ = strconv.Atoi(proxy)
	reply.ID, _ = strconv.Atoi(id)
	if data == "-" {
		reply.Error = "the rank has put nothing"
	}
	p.conn.SendValue(channel.ModexReply, reply)
}

// pmixNames asks the name service, of which every name is one of PMI's.
func (p *proxy) pmixNames(verb, id string, words []string) {
	request := channel.Name{Op: verb}
	if verb != "unpublish" {
		request.Once = words[0] == "once"
		seconds, _ := strconv.Atoi(words[0])
		request.Wait = time.Duration(seconds) * time.Second
		words = words[1:]
	}
	step := 1
	if verb == "publish" {
		step = 2
	}
	var values []string
	var err error
	for pair := range slices.Chunk(words, step) {
		request.Service, request.Port = string(bytesOf(pair[0])), string(bytesOf(pair[len(pair)-1]))
		var value string
		if value, err = p.up.name(request); err != nil {
			break
		}
		values = append(values, pair[0], word([]byte(value)))
	}
	p.pmix.done(id, err, values...)
}

// pmixSpawn has programs started.
func (p *proxy) pmixSpawn(id string, words []string) {
	var request pmi.SpawnRequest
	var block *pmi.SpawnBlock
	for pair := range slices.Chunk(words, 2) {
		text := string(bytesOf(pair[len(pair)-1]))
		switch pair[0] {
		case "app":
			ranks, _ := strconv.Atoi(pair[len(pair)-1])
			request.Blocks = append(request.Blocks, pmi.SpawnBlock{Ranks: ranks, Info: map[string]string{}})
			block = &request.Blocks[len(request.Blocks)-1]
		case "arg":
			block.Args = append(block.Args, text)
		case "env":
			block.Env = append(block.Env, text)
		default:
			block.Info[pair[0]] = text
		}
	}
	reply := p.up.Spawn(request)
	var err error
	if reply.Error != "" {
		err = errors.New(reply.Error)
	}
	p.pmix.done(id, err, reply.KVSName)
}
