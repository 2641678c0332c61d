// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// register makes a region.
func register(t *testing.T, p *Port, memory []byte) *Region {
	t.Helper()
	r, err := p.Register(memory)
	require.NoError(t, err)
	return r
}

// attend has a port make progress until the test calls the result.
func attend(t *testing.T, p *Port) (stop func()) {
	var over atomic.Bool
	var all sync.WaitGroup
	all.Go(func() { await(t, p, "end of the test", over.Load) })
	return func() {
		over.Store(true)
		all.Wait()
		poll(p) // the thread of model Offload has done what it had begun: the race detector does not see memory that nodes share
	}
}

// ended waits for a request that must end well.
func ended(t *testing.T, r Request, err error) {
	t.Helper()
	require.NoError(t, err)
	_, err = r.Wait()
	require.NoError(t, err)
}

// accessSizes are around what decides how data travel.
var accessSizes = []int{0, 1, 8, 40, 41, 8193, 20_000, 1<<20 + 3}

// What is put is there, and nothing beside it, and is what is got.
func TestPutAndGet(t *testing.T) {
	eachPair(t, Options{Packets: 2}, func(t *testing.T, a, b *Port) {
		memory := make([]byte, 2<<20)
		region := register(t, b, memory)
		key := region.Key()
		require.NoError(t, b.Send(key[:], Envelope{Peer: 0}))
		var known Key
		_, err := a.Recv(known[:], Envelope{Peer: 1})
		require.NoError(t, err)
		stop := attend(t, b)
		want := make([]byte, len(memory))
		for i, size := range accessSizes {
			offset := 13 + 7*i
			data := pattern(size, byte(i))
			copy(want[offset:], data)
			r, err := a.Put(known, offset, data)
			ended(t, r, err)
			got := make([]byte, size)
			r, err = a.Get(known, offset, got)
			ended(t, r, err)
			require.True(t, bytes.Equal(data, got), "%d bytes", size)
		}
		all := make([]byte, len(memory))
		r, err := a.Get(known, 0, all)
		ended(t, r, err)
		stop()
		assert.True(t, bytes.Equal(want, all))
		assert.True(t, bytes.Equal(want, memory))
		require.NoError(t, region.Free())
	})
}

// Many accesses are under way at once, more than there is room for.
func TestManyAccesses(t *testing.T) {
	eachPair(t, Options{Ring: 8}, func(t *testing.T, a, b *Port) {
		const count, size = 300, 3000
		memory := make([]byte, count*size)
		key := register(t, b, memory).Key()
		var requests []Request
		for i := range count {
			r, err := a.Put(key, i*size, pattern(size, byte(i)))
			require.NoError(t, err)
			requests = append(requests, r)
		}
		stop := attend(t, b)
		require.NoError(t, WaitAll(requests, nil))
		got := make([]byte, len(memory))
		for i := range count {
			r, err := a.Get(key, i*size, got[i*size:][:size])
			require.NoError(t, err)
			requests[i] = r
		}
		require.NoError(t, WaitAll(requests, nil))
		stop()
		for i := range count {
			require.Equal(t, pattern(size, byte(i)), got[i*size:][:size], "put %d", i)
		}
	})
}

// Within a process the other port need not do anything.
func TestAccessWithinAProcessNeedsNoProgress(t *testing.T) {
	each(t, Options{Ports: 2}, func(t *testing.T, f *Fabric) {
		memory := make([]byte, 64)
		key := register(t, f.Port(1), memory).Key()
		var before uint64
		r, err := f.Port(0).Put(key, 8, []byte("hello"))
		assert.Equal(t, Request{}, r)
		require.NoError(t, err)
		_, err = f.Port(0).FetchAdd(key, 0, 5, &before)
		require.NoError(t, err)
		_, err = f.Port(0).CompareSwap(key, 0, 5, 9, &before)
		require.NoError(t, err)
		assert.EqualValues(t, 5, before)
		assert.Equal(t, []byte("\x09\x00\x00\x00\x00\x00\x00\x00hello"), memory[:13])
	})
}

// When the handler of a signal runs, the data are there.
func TestPutSignal(t *testing.T) {
	var memory []byte
	var next atomic.Int64
	handlers := []Handler{nil, func(_ *Port, e Envelope, data []byte) {
		assert.Equal(t, Envelope{Context: uint32(next.Load()), Peer: 0, Tag: 1}, e)
		assert.Empty(t, data)
		size := accessSizes[next.Load()]
		assert.True(t, bytes.Equal(pattern(size, 3), memory[:size]), "%d bytes", size)
		clear(memory)
		next.Add(1)
	}}
	eachPair(t, Options{Handlers: handlers}, func(t *testing.T, a, b *Port) {
		memory = make([]byte, 2<<20)
		next.Store(0)
		key := register(t, b, memory).Key()
		stop := attend(t, b)
		for i, size := range accessSizes {
			r, err := a.PutSignal(key, 0, pattern(size, 3), 1, uint32(i))
			ended(t, r, err)
			await(t, a, "handler", func() bool { return next.Load() == int64(i+1) })
		}
		stop()
		_, err := a.PutSignal(key, 0, nil, 0, 0)
		assert.EqualError(t, err, "port 0: there is no handler 0: Options.Handlers has 2")
	})
}

// Ports of the region's process and of others change one word: no change is lost, by adding, or by comparing
// and swapping.
func TestWordsAreAtomic(t *testing.T) {
	testsupport.NothingLeft(t)
	const count = 100
	for _, model := range Models() {
		for _, by := range ways {
			t.Run(model.String()+"/"+string(by), func(t *testing.T) {
				f := spanning(t, Options{Model: model}, by, 2, 1, 1)
				memory := make([]byte, 24)
				key := register(t, f[0].Port(0), memory).Key()
				stop := attend(t, f[0].Port(0))
				ports := []*Port{f[0].Port(1), f[1].Port(2), f[2].Port(3)}
				seen := make([][]uint64, len(ports))
				var all sync.WaitGroup
				for i, p := range ports {
					all.Go(func() {
						for range count {
							var before uint64
							r, err := p.FetchAdd(key, 8, 3, &before)
							assert.NoError(t, err)
							_, err = r.Wait()
							assert.NoError(t, err)
							seen[i] = append(seen[i], before)
							increment(t, p, key)
						}
					})
				}
				all.Wait()
				stop()
				numbers := slices.Concat(seen...)
				slices.Sort(numbers)
				for i, n := range numbers {
					require.EqualValues(t, 3*i, n)
				}
				assert.EqualValues(t, 3*count*len(ports), wordAt(memory, 8).Load())
				assert.EqualValues(t, count*len(ports), wordAt(memory, 16).Load())
				assert.Zero(t, wordAt(memory, 0).Load())
			})
		}
	}
}

// Threads of one process change a word directly, so often that they meet.
func TestWordsAreAtomicWithinAProcess(t *testing.T) {
	const threads, count = 4, 200_000
	f := fabric(t, Options{Ports: threads})
	memory := make([]byte, 24)
	key := register(t, f.Port(0), memory).Key()
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			for range count {
				_, err := f.Port(i).FetchAdd(key, 8, 1, nil)
				assert.NoError(t, err)
				increment(t, f.Port(i), key)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, threads*count, wordAt(memory, 8).Load())
	assert.EqualValues(t, threads*count, wordAt(memory, 16).Load())
}

// increment adds 1 to a region's third word by comparing and swapping.
func increment(t *testing.T, p *Port, key Key) {
	for old, before := uint64(0), uint64(0); ; old = before {
		r, err := p.CompareSwap(key, 16, old, old+1, &before)
		assert.NoError(t, err)
		_, err = r.Wait()
		assert.NoError(t, err)
		if before == old || err != nil {
			return
		}
	}
}

// What a port cannot access it hears, whether its own side finds out or the region's, and goes on.
func TestAccessIsRefused(t *testing.T) {
	eachPair(t, Options{Handlers: []Handler{func(*Port, Envelope, []byte) { t.Error("signal of a put that was refused") }}}, func(t *testing.T, a, b *Port) {
		memory := make([]byte, 64)
		region := register(t, b, memory)
		key := region.Key()
		freed := register(t, b, make([]byte, 64))
		old := freed.Key()
		require.NoError(t, freed.Free())
		require.ErrorIs(t, freed.Free(), ErrNoRegion)
		stop := attend(t, b)
		try := func(want string, k Key, offset int, n int) {
			t.Helper()
			for i, start := range []func() (Request, error){
				func() (Request, error) { return a.Put(k, offset, make([]byte, n)) },
				func() (Request, error) { return a.PutSignal(k, offset, make([]byte, n), 0, 0) },
				func() (Request, error) { return a.Get(k, offset, make([]byte, n)) },
				func() (Request, error) { return a.FetchAdd(k, offset, 1, nil) },
				func() (Request, error) { return a.CompareSwap(k, offset, 0, 1, nil) },
			} {
				if n != wordSize && i > 2 {
					continue
				}
				r, err := start()
				if err == nil {
					_, err = r.Wait()
				}
				assert.EqualError(t, err, want)
			}
		}
		gone := "port 0: a region of port 1: the key names no region: it is freed, or the key is wrong"
		try(gone, old, 0, 8)
		try(gone, old, 0, 60)
		wrong := key
		wrong[8] = 77
		try(gone, wrong, 0, 8)
		larger := key
		larger[17] = 1 // its size
		try(gone, larger, 64, 8)
		try(gone, larger, 64, 100)
		wrong = key
		wrong[0] = 9
		try("port 0: a key of port 9: the fabric has ports 0 to 1", wrong, 0, 8)
		try("port 0: 8 bytes at offset 57 of a region of port 1, which has 64", key, 57, 8)
		try("port 0: 8 bytes at offset -8 of a region of port 1, which has 64", key, -8, 8)
		try("port 0: 65 bytes at offset 0 of a region of port 1, which has 64", key, 0, 65)
		_, err := a.FetchAdd(key, 4, 1, nil)
		assert.EqualError(t, err, "port 0: the word at offset 4 of a region of port 1: take a multiple of 8")
		r, err := a.Put(key, 8, []byte("in order"))
		ended(t, r, err)
		got := make([]byte, 8) // memory itself is that of b's threads
		r, err = a.Get(key, 8, got)
		ended(t, r, err)
		stop()
		assert.Equal(t, "in order", string(got))
		_, err = b.Register(memory[1:])
		assert.EqualError(t, err, "port 1: register 63 bytes: a region has at least one, and starts at a multiple of 8")
		_, err = b.Register(nil)
		assert.ErrorContains(t, err, "at least one")
		_, err = b.Put(Key{}, 0, []byte("x"))
		assert.ErrorIs(t, err, ErrNoRegion)
		require.NoError(t, b.fabric.Close())
		_, err = b.Put(key, 0, nil)
		assert.ErrorIs(t, err, ErrClosed)
		_, err = b.Register(memory)
		assert.ErrorIs(t, err, ErrClosed)
		_, err = b.Team(0)
		assert.ErrorIs(t, err, ErrClosed)
	})
}

// Free returns when no access is under way, and what comes later is refused.
func TestFreeWaits(t *testing.T) {
	eachPair(t, Options{}, func(t *testing.T, a, b *Port) {
		memory := make([]byte, 8<<20)
		region := register(t, b, memory)
		key := region.Key()
		ones := bytes.Repeat([]byte{1}, len(memory))
		var freed atomic.Bool
		var puts atomic.Int64
		var all sync.WaitGroup
		all.Go(func() {
			for last := false; !last; {
				last = freed.Load() // what ends before this one does has begun before Free returned
				r, err := a.Put(key, 0, ones)
				if err == nil {
					_, err = r.Wait()
				}
				if err != nil {
					assert.ErrorIs(t, err, ErrNoRegion)
				}
				puts.Add(1)
			}
		})
		await(t, b, "put", func() bool { return puts.Load() > 0 })
		assert.NoError(t, region.Free())
		clear(memory)
		freed.Store(true)
		stop := attend(t, b)
		all.Wait()
		stop()
		assert.True(t, bytes.Equal(memory, make([]byte, len(memory))), "written after Free")
	})
}

// An access of a process that has gone ends with an error that names it.
func TestAccessGone(t *testing.T) {
	testsupport.NothingLeft(t)
	for i := range len(Models()) * len(ways) {
		model, by := Models()[i/len(ways)], ways[i%len(ways)]
		t.Run(model.String()+"/"+string(by), func(t *testing.T) {
			f := spanning(t, Options{Model: model}, by, 1, 1)
			a, b := f[0].Port(0), f[1].Port(1)
			region := register(t, b, make([]byte, 2<<20+2*wordSize)) // what is put, what is got, two words: no access meets another kind
			own := register(t, a, make([]byte, 1<<20))
			key, ownKey, data := region.Key(), own.Key(), make([]byte, 1<<20)
			_, err := b.Put(ownKey, 0, data) // comes, or does not
			require.NoError(t, err)
			var requests []Request
			for k := range 300 {
				var r Request
				switch k % 4 {
				case 0:
					r, err = a.Put(key, 2<<20+wordSize, data[:wordSize])
				case 1:
					r, err = a.Put(key, 0, data)
				case 2:
					r, err = a.Get(key, 1<<20, make([]byte, 1<<20))
				default:
					r, err = a.FetchAdd(key, 2<<20, 1, nil)
				}
				require.NoError(t, err)
				requests = append(requests, r)
			}
			time.AfterFunc(20*time.Millisecond, func() { f[1].Close(); f[1].options.Carrier.Close() })
			for _, r := range requests {
				_, err := r.Wait()
				if model == Offload && err == nil {
					continue // the thread of the port has served it
				}
				assert.ErrorIs(t, err, ErrPeerGone)
				assert.ErrorContains(t, err, "rank 1 is gone")
			}
			require.NoError(t, own.Free())
			_, err = a.Probe(Envelope{Peer: 1})
			require.ErrorIs(t, err, ErrPeerGone)
			r, err := a.Get(key, 0, make([]byte, 8))
			require.NoError(t, err)
			_, err = r.Wait()
			assert.ErrorIs(t, err, ErrPeerGone)
		})
	}
}

// Accesses that are cancelled before they have left do nothing, and keep none that follow. Those that have left go on.
func TestCancelAccesses(t *testing.T) {
	eachPair(t, Options{}, func(t *testing.T, a, b *Port) {
		memory := make([]byte, 16)
		key := register(t, b, memory).Key()
		var requests []Request
		for range 1000 {
			r, err := a.Put(key, 8, []byte("one"))
			require.NoError(t, err)
			add, err := a.FetchAdd(key, 0, 1, nil)
			require.NoError(t, err)
			requests = append(requests, r, add)
		}
		for _, r := range requests {
			require.NoError(t, r.Cancel())
		}
		stop := attend(t, b)
		added := byte(0)
		for i, r := range requests {
			if _, err := r.Wait(); err != nil {
				require.ErrorIs(t, err, ErrCancelled)
			} else if i%2 == 1 {
				added++
			}
		}
		r, err := a.Put(key, 11, []byte("two"))
		ended(t, r, err)
		stop()
		assert.Equal(t, "onetwo\x00\x00", string(memory[8:]))
		assert.Equal(t, added, memory[0], "modulo 256")
	})
}

// A fabric that closes ends accesses.
func TestCloseEndsAccesses(t *testing.T) {
	eachPair(t, Options{}, func(t *testing.T, a, b *Port) {
		if a.fabric == b.fabric || a.model == Offload {
			return // they end at once, or may
		}
		key := register(t, b, make([]byte, 1<<20)).Key()
		var requests []Request
		for range 500 {
			r, err := a.Put(key, 0, make([]byte, 3000))
			require.NoError(t, err)
			requests = append(requests, r)
		}
		time.AfterFunc(10*time.Millisecond, func() { a.fabric.Close() })
		for _, r := range requests {
			_, err := r.Wait()
			assert.ErrorIs(t, err, ErrClosed)
		}
	})
}

// A broken peer asks, answers and sends data at random. Nothing outside of its region changes, and
// others are served.
func TestBrokenAccesses(t *testing.T) {
	testsupport.NothingLeft(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, by := range ways {
		f := spanning(t, Options{Handlers: []Handler{func(*Port, Envelope, []byte) {}}}, by, 1, 1, 1)
		broken, b, c := f[0].Port(0), f[1].Port(1), f[2].Port(2)
		all := make([]byte, 300)
		key := register(t, b, all[96:200]).Key()
		waiting, err := b.Get(register(t, c, make([]byte, 8)).Key(), 0, make([]byte, 8))
		require.NoError(t, err)
		small := func() uint64 { return []uint64{0, 1, 2, 3, 8, 50, 104, 1 << 32, 1<<32 | 1, 1<<64 - 1}[random.IntN(10)] }
		var data [60]byte
		for range 5000 {
			var o op
			o.setHead(head{small(), small(), small(), small(), small() & 0xff00_0000_0000_0000})
			message := o.cell.Inline[:]
			if random.IntN(3) == 0 {
				message = data[:random.IntN(len(data))]
			}
			for {
				how, err := broken.far.port.Send(1, uint32(random.IntN(2)), tagAsk+int32(random.IntN(tagData-tagAsk+1)), message, 0)
				require.NoError(t, err)
				b.Progress()
				if how != carrier.Full {
					break
				}
				broken.Progress()
			}
			broken.Progress()
		}
		_, done, err := waiting.Test()
		require.NoError(t, err)
		require.False(t, done, "answered by another than asked")
		for at, value := range all {
			if at < 96 || at >= 200 {
				require.Zero(t, value, "byte %d", at)
			}
		}
		stop := attend(t, b)
		r, err := c.Put(key, 0, []byte("of another"))
		ended(t, r, err)
		stop()
		ended(t, waiting, nil)
	}
}

// No access allocates memory.
func TestAccessesAllocateNothing(t *testing.T) {
	eachPair(t, Options{}, func(t *testing.T, a, b *Port) {
		key := register(t, b, make([]byte, 1<<20)).Key()
		var before uint64
		for _, size := range []int{8, 8192, 1 << 20} {
			data := make([]byte, size)
			assert.Zero(t, testing.AllocsPerRun(5, func() {
				put, err1 := a.Put(key, 0, data)
				get, err2 := a.Get(key, 0, data)
				add, err3 := a.FetchAdd(key, 0, 1, &before)
				if err1 != nil || err2 != nil || err3 != nil {
					t.Fatal(err1, err2, err3)
				}
				for _, r := range [...]Request{put, get, add} {
					for over := false; !over; {
						b.Progress()
						_, over, _ = r.Test()
					}
				}
			}), "%d bytes", size)
		}
	})
}
