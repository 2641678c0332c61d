// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// spawnLines is what MPICH 4.0.2 sends, but that it sends the preputs in every block.
const spawnLines = `mcmd=spawn
nprocs=2
execname=python3
totspawns=2
spawnssofar=1
argcnt=2
arg1=/home/u/child.py
arg2=appA
preput_num=1
preput_key_0=PARENT_ROOT_PORT_NAME
preput_val_0=tag#0$port$
info_num=1
info_key_0=wdir
info_val_0=/home/u
endcmd
mcmd=spawn
nprocs=1
execname=python3
totspawns=2
spawnssofar=2
argcnt=3
arg1=/home/u/child.py
arg2=appB
arg3=has space
info_num=0
endcmd`

const spawnPairs = "cmd=spawn;thrid=t;ncmds=2;preputcount=1;ppkey0=PARENT_ROOT_PORT_NAME;ppval0=tag#0$port$;" +
	"subcmd=python3;maxprocs=2;argc=2;argv0=/home/u/child.py;argv1=appA;infokeycount=1;infokey0=wdir;infoval0=/home/u;" +
	"subcmd=python3;maxprocs=1;argc=3;argv0=/home/u/child.py;argv1=appB;argv2=has space;infokeycount=0;"

var spawnWanted = SpawnRequest{
	Blocks: []SpawnBlock{
		{Ranks: 2, Args: []string{"python3", "/home/u/child.py", "appA"}, Info: map[string]string{"wdir": "/home/u"}},
		{Ranks: 1, Args: []string{"python3", "/home/u/child.py", "appB", "has space"}, Info: map[string]string{}},
	},
	Preputs: []Entry{{"", "PARENT_ROOT_PORT_NAME", "tag#0$port$"}},
}

func TestSpawnRequests(t *testing.T) {
	replies := make(chan SpawnReply, 1)
	up := newRoot(1)
	up.spawn = func(request SpawnRequest) SpawnReply {
		assert.Equal(t, spawnWanted, request)
		return <-replies
	}
	server := NewServer(World{Size: 1, KVSName: testKVS}, Ranks{0}, up, newRecord(), nil)
	ours, theirs := net.Pipe()
	var session sync.WaitGroup
	session.Go(func() { server.Serve(0, 0, theirs) })
	defer session.Wait()
	defer ours.Close()

	replies <- SpawnReply{KVSName: "kvs_2"}
	assert.Equal(t, "cmd=spawn_result rc=0", ask(t, ours, spawnLines))
	replies <- SpawnReply{KVSName: "kvs_2"}
	assert.Equal(t, "cmd=spawn-response;thrid=t;jobid=kvs_2;nerrs=0;rc=0;", ask2(t, ours, spawnPairs))
	refused := SpawnReply{Error: "cannot run python3; no such file", Codes: []int{1, 1, 2}}
	replies <- refused
	assert.Equal(t, "cmd=spawn_result rc=1 msg=cannot_run_python3;_no_such_file errcodes=1,1,2", ask(t, ours, spawnLines))
	replies <- refused
	assert.Equal(t, "cmd=spawn-response;thrid=t;nerrs=3;errcodes=1,1,2;rc=1;errmsg=cannot run python3, no such file;", ask2(t, ours, spawnPairs))
	replies <- SpawnReply{Error: "too many", Codes: make([]int, 1000)}
	assert.Equal(t, "cmd=spawn_result rc=1 msg=too_many", ask(t, ours, spawnLines), "codes that do not fit are left out")

	shuffled := strings.Replace(spawnLines, "argcnt=2\n", "", 1) // no line but the last has a place
	shuffled = strings.Replace(shuffled, "mcmd=spawn\n", "mcmd=spawn\nargcnt=2\n", 1)
	replies <- SpawnReply{}
	assert.Equal(t, "cmd=spawn_result rc=0", ask(t, ours, shuffled))
}

// A spawned world has what its spawner put for it, on every host, before any barrier.
func TestSpawnedWorld(t *testing.T) {
	world := World{Size: 1, KVSName: "kvs_2", Spawner: testKVS, Preputs: spawnWanted.Preputs}
	server := NewServer(world, Ranks{0}, newRoot(1), newRecord(), nil)
	ours, theirs := net.Pipe()
	var session sync.WaitGroup
	session.Go(func() { server.Serve(0, 1, theirs) })
	defer session.Wait()
	defer ours.Close()
	assert.Equal(t, "cmd=get_result rc=0 msg=success value=tag#0$port$", ask(t, ours, "cmd=get kvsname=kvs_2 key=PARENT_ROOT_PORT_NAME"))
	assert.Equal(t, "cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=0;size=1;appnum=1;spawner-jobid=kvs_1;debugged=FALSE;pmiverbose=FALSE;rc=0;",
		ask2(t, ours, "cmd=fullinit;pmirank=0;"))
	assert.Equal(t, "cmd=info-getjobattr-response;found=TRUE;value=tag#0$port$;rc=0;", ask2(t, ours, "cmd=info-getjobattr;key=PARENT_ROOT_PORT_NAME;"))
}
