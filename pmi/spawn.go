// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/internal/ranges"
)

// A SpawnRequest asks for a further world, whose programs start together.
type SpawnRequest struct {
	Blocks  []SpawnBlock
	Preputs []Entry // in the new world's key-value space from the start; their Space is empty
}

// A SpawnBlock is one program of the world.
type SpawnBlock struct {
	Ranks int
	Args  []string // program and its arguments
	Info  map[string]string
	Env   []string // beside what its ranks have anyway
}

// A SpawnReply tells what became of a request: a world with a key-value space, or why there is none and, for each of its
// ranks in order, a code other than 0.
type SpawnReply struct {
	KVSName string
	Error   string
	Codes   []int
}

var errSpawn = errors.New("malformed request")

// spawnKeys are the words of one version of PMI. A list's index follows its word.
type spawnKeys struct {
	begin                  string // of a block
	ranks, program         string
	arg                    string
	firstArg               int
	infoKey, infoValue     string
	preputKey, preputValue string
}

var (
	spawnPMI1 = spawnKeys{"mcmd", "nprocs", "execname", "arg", 1, "info_key_", "info_val_", "preput_key_", "preput_val_"}
	spawnPMI2 = spawnKeys{"subcmd", "maxprocs", "subcmd", "argv", 0, "infokey", "infoval", "ppkey", "ppval"}
)

// parse reads the pairs of a request. Preputs may stand before the first block, in it or in all of them.
func (k spawnKeys) parse(pairs []string) (SpawnRequest, error) {
	blocks := []map[string]string{{}}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		if key == k.begin {
			blocks = append(blocks, map[string]string{})
		}
		blocks[len(blocks)-1][key] = value
	}
	preputs := map[string]string{}
	var r SpawnRequest
	for _, fields := range blocks {
		maps.Copy(preputs, list(fields, k.preputKey, k.preputValue))
		if fields[k.program] == "" && fields[k.ranks] == "" {
			continue // what stands before the first block
		}
		ranks, err := strconv.Atoi(fields[k.ranks])
		if err != nil || ranks < 1 || fields[k.program] == "" {
			return SpawnRequest{}, errSpawn
		}
		block := SpawnBlock{Ranks: ranks, Args: []string{fields[k.program]}, Info: list(fields, k.infoKey, k.infoValue)}
		for i := k.firstArg; ; i++ {
			arg, found := fields[k.arg+strconv.Itoa(i)]
			if !found {
				break
			}
			block.Args = append(block.Args, arg)
		}
		r.Blocks = append(r.Blocks, block)
	}
	for _, key := range slices.Sorted(maps.Keys(preputs)) {
		r.Preputs = append(r.Preputs, Entry{"", key, preputs[key]})
	}
	if len(r.Blocks) == 0 {
		return SpawnRequest{}, errSpawn
	}
	return r, nil
}

// list reads KEY0=k VALUE0=v KEY1=...
func list(fields map[string]string, key, value string) map[string]string {
	all := map[string]string{}
	for i := 0; ; i++ {
		name, found := fields[key+strconv.Itoa(i)]
		if !found {
			return all
		}
		all[name] = fields[value+strconv.Itoa(i)]
	}
}

// requestSpawn has the world started and waits for it.
func (s *session) requestSpawn(keys spawnKeys, pairs []string) SpawnReply {
	request, err := keys.parse(pairs)
	if err != nil {
		s.warn("spawn", fmt.Sprintf("PMI spawn: %v", err))
		return SpawnReply{Error: err.Error()}
	}
	return s.server.up.Spawn(request)
}

func (s *session) spawn(m Message) string {
	reply := s.requestSpawn(spawnPMI1, m.block)
	if reply.Error == "" {
		return "cmd=spawn_result rc=0"
	}
	line := "cmd=spawn_result rc=1 msg=" + strings.ReplaceAll(reply.Error, " ", "_")
	if codes := " errcodes=" + ranges.List(reply.Codes); len(reply.Codes) > 0 && len(line)+len(codes)+1 <= maxReply {
		line += codes
	}
	return line
}

func (s *session) spawnJob(m Message) string {
	reply := s.requestSpawn(spawnPMI2, m.block)
	if reply.Error == "" {
		return "jobid=" + reply.KVSName + ";nerrs=0;rc=0;"
	}
	return fmt.Sprintf("nerrs=%d;errcodes=%s;rc=1;errmsg=%s;", len(reply.Codes), ranges.List(reply.Codes), strings.ReplaceAll(reply.Error, ";", ","))
}
