// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A rank spawns two programs: a world of its own, with what the spawner put for it, whose barriers are its own.
func TestSpawn(t *testing.T) {
	dir := t.TempDir()
	child := `echo "$1 $PMI_RANK of $PMI_SIZE spawned=$PMI_SPAWNED $(pwd)"; cat; shift; exec "$@"`
	tail := "arg3=sh\narg4=%\narg5=pmiprobe\narg6=" + init1 + "\narg7=cmd=get_my_kvsname\narg8=cmd=get_appnum\n" +
		"arg9=cmd=get kvsname=KVS key=PARENT_ROOT_PORT_NAME\narg10=cmd=get kvsname=KVS key=PMI_process_mapping\narg11=cmd=barrier_in\narg12=cmd=finalize\n"
	block := func(ranks, name, place, info string) string {
		return "mcmd=spawn\nnprocs=" + ranks + "\nexecname=sh\ntotspawns=2\nspawnssofar=" + place + "\narg1=-c\narg2=" + child + "\n" +
			strings.Replace(tail, "%", name, 1) + info + "endcmd"
	}
	request := block("2", "appA", "1", "preput_num=1\npreput_key_0=PARENT_ROOT_PORT_NAME\npreput_val_0=tag#0$port$\n"+
		"info_num=1\ninfo_key_0=wdir\ninfo_val_0="+dir+"\n") + "\n" + block("1", "appB", "2", "info_num=0\n")
	j, code := runJob(t, "-launcher", "fork", "-fanout", "1", "-hosts", "127.0.0.2:2,127.0.0.3:2", "-n", "2", "pmiprobe", init1, "cmd=get_my_kvsname",
		"-0 "+request, "cmd=barrier_in", "cmd=finalize")
	require.Zero(t, code, j.errOut.String())
	out := j.out.String()
	assert.Contains(t, out, "cmd=spawn_result rc=0\n")
	here, err := os.Getwd()
	require.NoError(t, err)
	for _, want := range []string{"appA 0 of 3 spawned=1 " + dir + "\n", "appA 1 of 3 spawned=1 " + dir + "\n", "appB 2 of 3 spawned=1 " + here + "\n"} {
		assert.Contains(t, out, want)
	}
	assert.Equal(t, 3, strings.Count(out, "value=tag#0$port$\n"))
	assert.Equal(t, 3, strings.Count(out, "value=(vector,(0,2,2))\n"), out)
	assert.Equal(t, 1, strings.Count(out, "appnum=1\n"))
	assert.Equal(t, 5, strings.Count(out, "cmd=barrier_out\n"))
	assert.Equal(t, 5, strings.Count(out, "cmd=finalize_ack\n"))
}

const spawnSleep = "cmd=spawn;ncmds=2;preputcount=0;subcmd=sleep;maxprocs=2;argc=1;argv0=60;infokeycount=0;"

// What cannot be spawned is told to the rank that asked, whole, and the job goes on.
func TestSpawnOfNothing(t *testing.T) {
	j, code := runJob(t, "-launcher", "fork", "-hosts", "127.0.0.2:2,127.0.0.3:2", "-n", "1", "pmiprobe", init2, "cmd=fullinit;pmirank=0;",
		spawnSleep+"subcmd=./nosuchprogram;maxprocs=1;argc=0;infokeycount=0;",
		"cmd=spawn;ncmds=1;preputcount=0;subcmd=true;maxprocs=4;argc=0;infokeycount=1;infokey0=wdir;infoval0=/nosuchdir;",
		"cmd=spawn;ncmds=1;preputcount=0;subcmd=true;maxprocs=1;argc=0;infokeycount=1;infokey0=hostfile;infoval0=/nosuchfile;",
		"cmd=finalize;")
	assert.Zero(t, code, j.errOut.String())
	replies := lines(j.out.String())
	require.Len(t, replies, 6)
	assert.Contains(t, replies[2], "cmd=spawn-response;nerrs=3;errcodes=2,2,1;rc=1;errmsg=cannot run ./nosuchprogram on ")
	assert.Contains(t, replies[3], "cmd=spawn-response;nerrs=4;errcodes=1,1,1,1;rc=1;errmsg=cannot run true on ")
	assert.Contains(t, replies[3], "/nosuchdir")
	assert.Contains(t, replies[4], "/nosuchfile")
	assert.Contains(t, j.errOut.String(), "mpiexec: spawn: cannot run ./nosuchprogram on ")
	assert.Contains(t, j.errOut.String(), "mpiexec: spawn: host file: ")
	assert.Less(t, time.Since(j.started), patience)
}

// The ends of spawned ranks count as those of the others: their codes, their crashes, their aborts; and the job lasts as long as
// any of them.
func TestSpawnedRanksCount(t *testing.T) {
	spawn := func(script string) []string {
		return []string{"-n", "1", "pmiprobe", init1,
			"mcmd=spawn\nnprocs=2\nexecname=sh\ntotspawns=1\nspawnssofar=1\nargcnt=2\narg1=-c\narg2=" + script + "\npreput_num=0\ninfo_num=0\nendcmd", "cmd=finalize"}
	}
	file := filepath.Join(t.TempDir(), "late")
	j, code := runJob(t, spawn("sleep 1; echo >> "+file+"; exit 5")...)
	assert.Equal(t, 5, code, j.errOut.String())
	late, err := os.ReadFile(file)
	require.NoError(t, err, "the job did not wait for what it spawned")
	assert.Len(t, late, 2)

	report := filepath.Join(t.TempDir(), "report")
	options := []string{"-print-all-exitcodes", "-report", report}
	j, code = runJob(t, append(options, spawn(`[ $PMI_RANK = 0 ] && exec sleep 60; kill -9 $$`)...)...)
	assert.Equal(t, 9, code)
	assert.Contains(t, j.errOut.String(), "mpiexec: rank 1 of group 1 (")
	assert.Regexp(t, `mpiexec: rank 0 of group 1 on \S+: ended with the job\nmpiexec: rank 1 of group 1 on \S+: signal SIGKILL`, j.errOut.String())
	assert.Regexp(t, `"rank": 1,\s+"group": 1,\s+"host": ".*",\s+"program": "sh",\s+"state": "signaled",`, fileText(t, report))

	j, code = runJob(t, spawn(`[ $PMI_RANK = 0 ] && exec sleep 60; exec pmiprobe '`+init1+`' 'cmd=abort exitcode=7'`)...)
	assert.Equal(t, 7, code, j.errOut.String())
}

// Worlds spawn worlds, one after the other and in one another; each has a name of its own, and they share published names.
func TestSpawnedWorldsSpawn(t *testing.T) {
	inner := "mcmd=spawn~nprocs=1~execname=pmiprobe~totspawns=1~spawnssofar=1~arg1=" + init1 + "~arg2=cmd=get_my_kvsname~arg3=cmd=lookup_name service=svc~arg4=cmd=finalize~endcmd"
	script := `exec pmiprobe "` + init1 + `" cmd=get_my_kvsname "$(echo '` + inner + `' | tr '~' '\n')" cmd=finalize`
	outer := "mcmd=spawn\nnprocs=1\nexecname=sh\ntotspawns=1\nspawnssofar=1\narg1=-c\narg2=" + script + "\nendcmd"
	j, code := runJob(t, "-n", "1", "pmiprobe", init1, "cmd=get_my_kvsname", "cmd=publish_name service=svc port=here", outer, outer, "cmd=finalize")
	require.Zero(t, code, j.errOut.String())
	assert.Equal(t, 4, strings.Count(j.out.String(), "cmd=spawn_result rc=0\n"))
	assert.Equal(t, 2, strings.Count(j.out.String(), "cmd=lookup_result port=here info=ok rc=0 msg=success\n"))
	names := map[string]bool{}
	for _, line := range lines(j.out.String()) {
		if name, found := strings.CutPrefix(line, "cmd=my_kvsname kvsname="); found {
			names[name] = true
		}
	}
	assert.Len(t, names, 5)
}
