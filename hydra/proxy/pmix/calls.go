// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmix

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

// call serves what the helper asks for on behalf of ranks. hydra/pmix/main.c describes the words.
func (s *Server) call(verb string, words []string) {
	if len(words) < 2 {
		return
	}
	id, words := words[0], words[1:]
	switch verb {
	case "fence", "connect", "disconnect":
		s.meet(verb, id, words)
	case "log":
		s.later(func() { s.logged(id, words) })
	case "get":
		go s.getModex(id, words)
	case "modexed":
		s.modexed(id, words[0])
	case "publish", "lookup", "unpublish":
		go s.names(verb, id, words)
	case "spawn":
		go s.spawn(id, words)
	}
}

// done answers a call with the outcome and values. It does so on a goroutine: a helper that writes much may not read
// meanwhile, and the goroutine that reads from it must not wait for it.
func (s *Server) done(id string, err error, values ...string) {
	outcome := "failed"
	switch {
	case err == nil:
		outcome = "ok"
	case err.Error() == pmi.ErrPublished.Error():
		outcome = "exists"
	case err.Error() == pmi.ErrNotPublished.Error():
		outcome = "missing"
	}
	go s.tell("done", id, outcome, strings.Join(values, " "))
}

// word encodes bytes as the helper reads them.
func word(bytes []byte) string {
	if len(bytes) == 0 {
		return "-"
	}
	return hex.EncodeToString(bytes)
}

// bytesOf decodes a word of the helper.
func bytesOf(word string) []byte {
	bytes, _ := hex.DecodeString(strings.TrimPrefix(word, "-"))
	return bytes
}

// later calls show after all earlier calls of show have ended. These calls may wait for the reader of our output, and ranks that
// wait for each other must not wait for that.
func (s *Server) later(show func()) {
	before, shown := s.shown, make(chan struct{})
	s.shown = shown
	go func() {
		defer close(shown)
		<-before
		show()
	}()
}

// logged passes on what the MPI library of a rank asks the server to show.
func (s *Server) logged(id string, words []string) {
	if rank, err := strconv.Atoi(words[0]); err == nil && s.env[rank] != nil {
		s.events.Logged(rank, bytesOf(words[len(words)-1]))
	}
	s.done(id, nil)
}

// meet enters ranks of this host into a barrier, with what they have put, and answers with what all ranks have put. Ranks of this
// world alone meet in the tree of barriers, those of several worlds at mpiexec.
func (s *Server) meet(verb, id string, words []string) {
	who, here := s.whoMeets(words[0])
	arrival := pmi.Arrival{Count: here, Puts: []pmi.Entry{{Key: strconv.Itoa(s.host.ID), Value: string(bytesOf(words[1]))}}}
	leave := func(union []pmi.Entry, err error) {
		var all []byte
		for _, e := range union {
			all = append(all, e.Value...)
		}
		s.done(id, err, word(all))
	}
	own, isOwn := who[s.host.World.KVSName]
	if isOwn && len(who) == 1 {
		arrival.Barrier = strings.Replace(own, "*", "WORLD", 1) + ":" + verb
		s.gather.Enter(arrival, leave)
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
		union, err := s.meetOthers(arrival, slices.Sorted(maps.Keys(who)))
		leave(union, err)
	}()
}

// meetOthers lets ranks meet ranks of other worlds. The helper is told of these worlds first.
func (s *Server) meetOthers(arrival pmi.Arrival, spaces []string) (union []pmi.Entry, err error) {
	for _, space := range spaces {
		if err := s.describe(space); err != nil {
			return nil, err
		}
	}
	frame, err := s.up.Ask(channel.MeetRequest, arrival.Append(nil))
	if err != nil {
		return nil, err
	}
	arrival, err = pmi.ParseArrival(frame.Body)
	return arrival.Puts, err
}

// whoMeets reads which ranks have to meet. For each world there is a list of ranks, or a star for all ranks. here is how many of
// them are on this host.
func (s *Server) whoMeets(text string) (who map[string]string, here int) {
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
	local := s.host.LocalRanks()
	if who[s.host.World.KVSName] == "*" {
		here = len(local)
	}
	for space, list := range ranks {
		if who[space] == "*" {
			continue
		}
		slices.Sort(list)
		list = slices.Compact(list)
		who[space] = ranges.List(list)
		if space == s.host.World.KVSName {
			here = len(slices.DeleteFunc(local, func(rank int) bool { return !slices.Contains(list, rank) }))
		}
	}
	return who, here
}

// getModex asks mpiexec for what a rank of another host has put.
func (s *Server) getModex(id string, words []string) {
	rank, err := strconv.Atoi(words[len(words)-1])
	var answer channel.Modex
	if err == nil {
		err = s.up.AskValue(channel.ModexRequest, channel.Modex{Space: words[0], Rank: rank}, &answer)
	}
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	s.done(id, err, word([]byte(answer.Data)))
}

// Query asks the helper what a rank of this host has put. The helper answers when the rank has put something. Query does
// not wait.
func (s *Server) Query(frame channel.Frame) {
	var query channel.Modex
	if s != nil && frame.Value(&query) == nil {
		go s.tell("modex", strconv.Itoa(query.Proxy)+":"+strconv.Itoa(query.ID), query.Rank)
	}
}

// modexed passes the answer to a Query on to mpiexec.
func (s *Server) modexed(token, data string) {
	proxy, id, _ := strings.Cut(token, ":")
	reply := channel.Modex{Data: string(bytesOf(data))}
	reply.Proxy, _ = strconv.Atoi(proxy)
	reply.ID, _ = strconv.Atoi(id)
	if data == "-" {
		reply.Error = "the rank has put nothing"
	}
	s.conn.SendValue(channel.ModexReply, reply)
}

// names asks the name service, which PMI and PMIx share.
func (s *Server) names(verb, id string, words []string) {
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
		if value, err = s.up.AskName(request); err != nil {
			break
		}
		values = append(values, pair[0], word([]byte(value)))
	}
	s.done(id, err, values...)
}

// spawn asks mpiexec to start programs.
func (s *Server) spawn(id string, words []string) {
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
	reply := s.up.Spawn(request)
	var err error
	if reply.Error != "" {
		err = errors.New(reply.Error)
	}
	s.done(id, err, reply.KVSName)
}
