// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/plan"
)

// turn makes names of what stays in the process when a test has ended.
var turn atomic.Int32

// placeOnce has libraries of a name placed once for the rest of the test.
func placeOnce(t *testing.T, name string) {
	t.Helper()
	policy := append(plan.Policy{{Pattern: name, Placement: plan.Once}}, plan.DefaultPolicies().Opened...)
	loader.Configure(loader.Config{Policy: policy})
	t.Cleanup(func() { loader.Configure(loader.Config{}) })
}

// gate is one that testdata/gate.c waits at.
type gate struct {
	setting string   // for the library's environment
	reached *os.File // gives a byte for each that has come to it
	key     *os.File // lets one through for each byte
}

func newGate(t *testing.T) gate {
	t.Helper()
	reached, to, err := os.Pipe()
	require.NoError(t, err)
	from, key, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() {
		for _, f := range []*os.File{reached, to, from, key} {
			f.Close()
		}
	})
	return gate{fmt.Sprintf("GATE=%d,%d", from.Fd(), to.Fd()), reached, key}
}

func (g gate) waitUntilReached(t *testing.T) {
	t.Helper()
	require.NoError(t, g.reached.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err := g.reached.Read(make([]byte, 1))
	require.NoError(t, err)
}

func (g gate) open(t *testing.T) {
	t.Helper()
	_, err := g.key.Write([]byte{1})
	require.NoError(t, err)
}

// copiesOf counts the copies of a file in memory, by their text.
func copiesOf(t *testing.T, file string) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	n := 0
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(line, " "+file+"\n") && strings.Contains(line, " r-xp ") {
			n++
		}
	}
	return n
}

// An instance whose library needs what another instance has placed once waits until the constructors
// of that have run, and does not place it again. Instances of other libraries came first.
func TestPlacedOnceIsComplete(t *testing.T) {
	open(t, library(t, "same.c", "-DANSWER=1")).Close()
	name := fmt.Sprintf("libgate%d.so", turn.Add(1))
	once := libraryNamed(t, name, "gate.c", "-DTURN="+name)
	placeOnce(t, name)
	user := libraryNamed(t, "libgate_user.so", "gate.c", append(linkTo(once), "-DUSER")...)
	g := newGate(t)
	var both sync.WaitGroup
	before := copiesOf(t, user)
	both.Go(func() { assert.Equal(t, 1, call(t, open(t, user, g.setting), "found_open")) })
	g.waitUntilReached(t)
	both.Go(func() { assert.Equal(t, 1, call(t, open(t, user), "found_open")) })
	for end := time.Now().Add(time.Minute); copiesOf(t, user) < before+2 && time.Now().Before(end); {
	}
	g.open(t)
	both.Wait()
	assert.Equal(t, 1, copiesOf(t, once))
}

// Threads that open instances at the same time place what is to be placed once no more than once.
func TestPlacedOnceByOne(t *testing.T) {
	open(t, library(t, "same.c", "-DANSWER=1")).Close()
	for range 20 {
		name := fmt.Sprintf("libonce%d.so", turn.Add(1))
		once := libraryNamed(t, name, "once.c", "-DONCE", "-DTURN="+name)
		placeOnce(t, name)
		user := library(t, "once.c", linkTo(once)...)
		start := make(chan struct{})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				<-start
				open(t, user)
			})
		}
		close(start)
		all.Wait()
		require.Equal(t, 1, copiesOf(t, once))
	}
}

// A constructor in one instance may wait for what another one opens.
func TestInstancesOpenSideBySide(t *testing.T) {
	path, plugin, other := counter(t), library(t, "gate.c"), library(t, "plugin.c")
	g := newGate(t)
	a, b := open(t, path, g.setting), open(t, path)
	var waiting sync.WaitGroup
	waiting.Go(func() { assert.Equal(t, 1, call(t, a, "opens", cString(t, plugin))) })
	g.waitUntilReached(t)
	name, opened := cString(t, other), make(chan uintptr, 1)
	go func() {
		ok, _ := b.Call("opens", name)
		opened <- ok
	}()
	select {
	case ok := <-opened:
		assert.EqualValues(t, 1, ok)
	case <-time.After(time.Minute):
		assert.Fail(t, "the second instance waits for the first")
	}
	g.open(t)
	waiting.Wait()
}

// A relative name means the working directory of now, and a file that took another's place is
// another library.
func TestOpenRelative(t *testing.T) {
	one, two := library(t, "same.c", "-DANSWER=1"), library(t, "same.c", "-DANSWER=2")
	answers := func(want int, path string) {
		t.Helper()
		i := open(t, path)
		assert.Equal(t, want, call(t, i, "ask"))
		i.Close()
	}
	t.Chdir(filepath.Dir(one))
	answers(1, "./libsame.so")
	t.Chdir(filepath.Dir(two))
	answers(2, "./libsame.so")
	answers(1, one)

	path := filepath.Join(t.TempDir(), "libsame.so")
	for turn, from := range []string{one, two, one} {
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, os.Link(from, path))
		answers(1+turn%2, path)
	}
}
