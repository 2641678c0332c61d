// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// onMessages compiles a program in C on tpslmsg.h.
func onMessages(t *testing.T, source string) string {
	lib := filepath.Dir(built(t, "lib/libtpslmsg.so"))
	return testsupport.CC(t, "gcc", source, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-pthread", "-I../../include", "-L"+lib, "-ltpslmsg", "-Wl,-rpath,"+lib)
}

// Programs in C on the message engine give the right answer alone, in two processes that share memory, and on two hosts.
func TestMessages(t *testing.T) {
	testsupport.NothingLeft(t)
	farm, exchange := onMessages(t, "../../examples/farm.c"), onMessages(t, "../../endpoints/tpslmsg/testdata/exchange.c")
	hosts := testsupport.Hosts(t, "a", "b")
	right := func(ranks int) string {
		return fmt.Sprintf("farm: 148933 primes below 2000000 by %d ranks: right\n", ranks)
	}
	t.Run("alone", func(t *testing.T) {
		assert.Equal(t, right(3), run(t, nil, farm, "3").succeeded(t).stdout)
		assert.Equal(t, right(1), run(t, nil, farm, "1").succeeded(t).stdout)
	})
	t.Run("one host", func(t *testing.T) {
		assert.Equal(t, right(4), mpiexec(t, nil, "-n 2", farm, "2").succeeded(t).stdout)
	})
	t.Run("two hosts", func(t *testing.T) {
		assert.Equal(t, right(4), from(t, hosts, "-hosts a,b -ppn 1 -n 2", farm, "2").succeeded(t).stdout)
	})
	both := []string{"exchange: rank 0 of 2: right\n", "exchange: rank 1 of 2: right\n"}
	t.Run("operations on one host", func(t *testing.T) {
		assert.Equal(t, both, mpiexec(t, nil, "-n 2", exchange, "together").succeeded(t).lines())
	})
	t.Run("operations on two hosts", func(t *testing.T) {
		assert.Equal(t, both, from(t, hosts, "-hosts a,b -ppn 1 -n 2", exchange, "together").succeeded(t).lines())
	})
}
