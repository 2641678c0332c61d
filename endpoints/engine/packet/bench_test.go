// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package packet

import (
	"sync"
	"sync/atomic"
	"testing"
)

const packetSize = 4096

// BenchmarkTakeAndGive takes a packet, writes a line of it and gives it back: from this
// pool, from sync.Pool and from one list under a mutex.
func BenchmarkTakeAndGive(b *testing.B) {
	const workers, packets = 64, 1024
	run := func(name string, op func(worker int)) {
		b.Run(name, func(b *testing.B) {
			var workersSoFar atomic.Int32
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				worker := int(workersSoFar.Add(1)-1) % workers
				for pb.Next() {
					op(worker)
				}
			})
		})
	}
	pool, err := New(Options{Workers: workers, Packets: packets, Size: packetSize})
	if err != nil {
		b.Fatal(err)
	}
	run("pool=private", func(worker int) {
		i := pool.Get(worker)
		pool.Data(i)[0] = 1
		pool.Put(worker, i)
	})
	run("pool=shared", func(int) {
		i := pool.GetShared()
		pool.Data(i)[0] = 1
		pool.PutShared(i)
	})
	goPool := sync.Pool{New: func() any { return new([packetSize]byte) }}
	run("pool=sync.Pool", func(int) {
		p := goPool.Get().(*[packetSize]byte)
		p[0] = 1
		goPool.Put(p)
	})
	var mutex sync.Mutex
	list := make([]*[packetSize]byte, packets)
	for i := range list {
		list[i] = new([packetSize]byte)
	}
	run("pool=mutex", func(int) {
		mutex.Lock()
		p := list[len(list)-1]
		list = list[:len(list)-1]
		mutex.Unlock()
		p[0] = 1
		mutex.Lock()
		list = append(list, p)
		mutex.Unlock()
	})
}
