// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"fmt"
	"os"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/loader"
)

// untilItEnds runs f on a thread of its own, and returns when that has ended.
func untilItEnds(t *testing.T, f func()) {
	t.Helper()
	id := make(chan int)
	onThread(func() {
		f()
		id <- unix.Gettid()
	})
	task := fmt.Sprint("/proc/self/task/", <-id)
	ended := func() bool {
		_, err := os.Stat(task)
		return err != nil
	}
	require.Eventually(t, ended, time.Minute, time.Millisecond)
}

// The destructor of a key is called at the end of a thread, and not when the instance that
// made the key is closed.
func TestKeysGoWithTheirInstance(t *testing.T) {
	path := library(t, "keys.c")
	at, _ := cBuffer(t, 8)
	witness := (*int32)(*(*unsafe.Pointer)(unsafe.Pointer(&at)))
	for _, c := range []struct {
		name  string
		close bool
		want  int32
	}{{"open", false, 7}, {"closed", true, 0}} {
		*witness = 0
		i := open(t, path)
		assert.Zero(t, call(t, i, "make_key", at))
		untilItEnds(t, func() {
			assert.Zero(t, call(t, i, "set_value"))
			if c.close {
				i.Close()
			}
		})
		assert.Equal(t, c.want, *witness, c.name)
		i.Close()
	}
}

// The process has 1,024 keys.
func TestKeysAreGivenBack(t *testing.T) {
	path := library(t, "keys.c")
	at, _ := cBuffer(t, 8)
	for n := range 1100 {
		i, err := loader.Open(path)
		if !assert.NoError(t, err) || !assert.Zero(t, call(t, i, "make_key", at), n) {
			return
		}
		if n%2 == 0 {
			assert.Zero(t, call(t, i, "drop_key"))
		}
		i.Close()
	}
}
