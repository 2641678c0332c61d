// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package loop

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

static uint64_t tpsl_map(uint64_t at, size_t n, int flags)
{
	return (uintptr_t)mmap((void *)at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static int tpsl_unmap(uint64_t at, size_t n) { return munmap((void *)at, n); }
static int tpsl_drop(uint64_t at, size_t n) { return madvise((void *)at, n, MADV_DONTNEED); }
static uint64_t tpsl_move(uint64_t at, size_t old, size_t n) { return (uintptr_t)mremap((void *)at, old, n, MREMAP_MAYMOVE); }
static uint64_t tpsl_grow(intptr_t n) { return (uintptr_t)sbrk(n); }
static uint64_t tpsl_alloc(size_t n) { return (uintptr_t)malloc(n); }

// A thread's first malloc maps a heap for it, where what is freed has been if that comes first.
static uint64_t tpsl_renew(uint64_t at, size_t n)
{
	void *volatile first = malloc(1);

	free(first);
	free((void *)at);
	return (uintptr_t)malloc(n);
}

static uint64_t tpsl_load(uint64_t at) { return *(volatile uint64_t *)at; }
static void tpsl_store(uint64_t at, uint64_t v) { *(volatile uint64_t *)at = v; }
static void tpsl_fill(uint64_t at, int with, size_t n) { memset((void *)at, with, n); }

static uint64_t tpsl_attach(uint64_t at, size_t n)
{
	int id = shmget(IPC_PRIVATE, n, 0600);
	void *p = shmat(id, (void *)at, 0);

	shmctl(id, IPC_RMID, NULL);
	return (uintptr_t)p;
}

static int tpsl_detach(uint64_t at) { return shmdt((void *)at); }
*/
import "C"

import "math"

// The functions below call those of libc; at is an address. They panic where libc refuses.

// Map maps n bytes of zeros at an address where nothing is, or anywhere if it is 0.
func Map(at uint64, n int) uint64 {
	return address("mmap", C.tpsl_map(C.uint64_t(at), C.size_t(n), C.MAP_FIXED_NOREPLACE*C.int(min(at, 1))))
}

// Replace maps n bytes of zeros in place of what is there.
func Replace(at uint64, n int) {
	address("mmap", C.tpsl_map(C.uint64_t(at), C.size_t(n), C.MAP_FIXED))
}

// Unmap is munmap.
func Unmap(at uint64, n int) { status("munmap", C.tpsl_unmap(C.uint64_t(at), C.size_t(n))) }

// Drop is madvise(MADV_DONTNEED).
func Drop(at uint64, n int) { status("madvise", C.tpsl_drop(C.uint64_t(at), C.size_t(n))) }

// Move is mremap from old to n bytes, which may move them.
func Move(at uint64, old, n int) uint64 {
	return address("mremap", C.tpsl_move(C.uint64_t(at), C.size_t(old), C.size_t(n)))
}

// Grow is sbrk: it returns the end of the heap before.
func Grow(n int) uint64 { return address("sbrk", C.tpsl_grow(C.intptr_t(n))) }

// Attach attaches n bytes of new System V shared memory, which are gone when Detach detaches them.
func Attach(at uint64, n int) uint64 {
	return address("shmat", C.tpsl_attach(C.uint64_t(at), C.size_t(n)))
}

// Detach is shmdt.
func Detach(at uint64) { status("shmdt", C.tpsl_detach(C.uint64_t(at))) }

// Alloc is malloc.
func Alloc(n int) uint64 { return uint64(C.tpsl_alloc(C.size_t(n))) }

// Renew is free, then malloc of n bytes, which mostly returns the same address. The calling thread makes no other mapping in between.
func Renew(at uint64, n int) uint64 { return uint64(C.tpsl_renew(C.uint64_t(at), C.size_t(n))) }

// Fill is memset.
func Fill(at uint64, with byte, n int) { C.tpsl_fill(C.uint64_t(at), C.int(with), C.size_t(n)) }

// Load and Store read and write the word at an address.
func Load(at uint64) uint64 { return uint64(C.tpsl_load(C.uint64_t(at))) }

// Store is Load's counterpart.
func Store(at, v uint64) { C.tpsl_store(C.uint64_t(at), C.uint64_t(v)) }

func address(call string, at C.uint64_t) uint64 {
	if at == math.MaxUint64 {
		panic(call + " was refused")
	}
	return uint64(at)
}

func status(call string, s C.int) {
	if s != 0 {
		panic(call + " was refused")
	}
}
