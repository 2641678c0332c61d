// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpslmsg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/internal/testsupport"
)

const limit = time.Minute

func TestMain(m *testing.M) {
	testsupport.ClearEnvironment()
	os.Exit(m.Run())
}

// library returns the library that make builds.
func library(t testing.TB) string { return filepath.Join(testsupport.Build(t), "lib/libtpslmsg.so.0") }

// linked compiles a program of testdata that is linked with the library.
func linked(t *testing.T, name string, flags ...string) string {
	folder := filepath.Dir(library(t))
	return testsupport.CC(t, "gcc", "testdata/"+name+".c", append([]string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread",
		"-I../../include", "-L" + folder, "-ltpslmsg", "-Wl,-rpath," + folder}, flags...)...)
}

// says runs a program, which ends well and says this.
func says(t *testing.T, want string, argv ...string) {
	t.Helper()
	stdout, stderr, code := testsupport.Run(t, limit, nil, argv...)
	assert.Zero(t, code, stderr)
	assert.Empty(t, stderr)
	assert.Equal(t, want, stdout)
}

// ways are how the programs of testdata are compiled.
var ways = map[string][]string{"plain": {"-O2"}, "address sanitizer": {"-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}}

// The header is C99 and C++98, with all warnings.
func TestHeader(t *testing.T) {
	source := filepath.Join(t.TempDir(), "header.c")
	require.NoError(t, os.WriteFile(source, []byte("#include <tpslmsg.h>\n"), 0o644))
	for _, words := range []string{"gcc -std=c99", "gcc -std=c2x -Wc++-compat", "clang -std=c99 -Weverything -Wno-c++98-compat -Wno-padded", "g++ -x c++ -std=c++98", "g++ -x c++ -std=c++20", "clang++ -x c++ -std=c++98 -Wno-c++11-long-long"} {
		compiler := strings.Fields(words)
		testsupport.Require(t, compiler[0])
		says(t, "", append(compiler, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I../../include", source)...)
	}
}

// Nothing that is wrong and can be checked ends the process: each call says in one line what is wrong.
func TestRefused(t *testing.T) {
	testsupport.NothingLeft(t)
	want, err := os.ReadFile("testdata/refused.out")
	require.NoError(t, err)
	for way, flags := range ways {
		t.Run(way, func(t *testing.T) { says(t, string(want), linked(t, "refused", flags...)) })
	}
}

// Every kind of operation gives the right answer within a process.
func TestOperations(t *testing.T) {
	testsupport.NothingLeft(t)
	for way, flags := range ways {
		t.Run(way, func(t *testing.T) { says(t, "exchange: 2 ports: right\n", linked(t, "exchange", flags...)) })
	}
}

// Threads share a port or are refused, wait no longer than they want, and are let go when the job ends.
func TestThreads(t *testing.T) {
	testsupport.NothingLeft(t)
	for way, flags := range ways {
		t.Run(way, func(t *testing.T) { says(t, "threads: right\n", linked(t, "threads", flags...)) })
	}
}

// The process stays the program's: its signals, its children by fork, and dlclose.
func TestProcess(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "gcc", "testdata/process.c", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I../../include", "-ldl")
	for _, what := range []string{"fork", "unload", "handled", "late", "pipe"} {
		t.Run(what, func(t *testing.T) { says(t, "process: "+what+": right\n", program, what, library(t)) })
	}
	for what, where := range map[string]string{"unhandled": "in the program", "wild": "in Go, at an address of the program's"} {
		t.Run(what, func(t *testing.T) {
			stdout, stderr, code := testsupport.Run(t, limit, nil, "sh", "-c", "ulimit -c 0; "+program+" "+what+" "+library(t))
			assert.Equal(t, 139, code, "the shell's number for SIGSEGV, %s", where)
			assert.NotContains(t, stderr, "goroutine", where)
			assert.Empty(t, stdout, where)
		})
	}
}

// Every error of the engine that an operation may end with has a code of its own.
func TestCodes(t *testing.T) {
	for want, err := range map[int]error{
		0: nil, -1: errors.New("wrong"), -2: engine.ErrClosed, -6: engine.ErrTruncated, -7: fmt.Errorf("port 3: %w", engine.ErrPeerGone), -8: engine.ErrNoRegion,
	} {
		assert.EqualValues(t, want, codeOf(err), "%v", err)
	}
}

// Nothing but the functions of the header is exported, and all of them are.
func TestExports(t *testing.T) {
	testsupport.Require(t, "nm")
	stdout, _, _ := testsupport.Run(t, limit, nil, "nm", "-D", "--defined-only", "--format=just-symbols", library(t))
	header, err := os.ReadFile("../../include/tpslmsg.h")
	require.NoError(t, err)
	exported := strings.Fields(stdout)
	assert.Len(t, exported, 10)
	for _, name := range exported {
		assert.Contains(t, string(header), name+"(")
	}
}

// A port that never comes to rest, as each message it gets sets off another one, keeps nobody in a call.
func TestReapOfABusyPort(t *testing.T) {
	again := func(p *engine.Port, e engine.Envelope, _ []byte) { _, _ = p.Invoke(nil, e) }
	f, err := engine.New(engine.Options{Ports: 1, Handlers: []engine.Handler{again}})
	require.NoError(t, err)
	_, err = f.Port(0).Invoke(nil, engine.Envelope{})
	require.NoError(t, err)
	p := newPort(&work{}, f.Port(0), false)
	to := slices.Grow(p.ended, 3)[:3]
	returned := make(chan bool)
	go func() {
		defer close(returned)
		for _, polls := range []int{1, vainPolls} {
			for least := range 2 {
				have, vain := p.reap(to, least, polls)
				assert.Zero(t, have)
				assert.False(t, vain)
			}
			p.keep(to[0])
			have, _ := p.reap(to, 1, polls)
			assert.Equal(t, 1, have)
		}
	}()
	select {
	case <-returned:
		require.NoError(t, f.Close())
	case <-time.After(limit):
		p.work.ends.Store(true)
		<-returned
		t.Fatal("it did not return in time")
	}
}
