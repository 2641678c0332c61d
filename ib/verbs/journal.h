// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// The writer's side of the journal of ib/regcache; its twin is ib/regcache/journal.go.

#ifndef TPSL_VERBS_JOURNAL_H
#define TPSL_VERBS_JOURNAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { TPSL_JOURNAL_CELLS = 1024 };

struct tpsl_journal_cell {
	uint64_t start, end;
	_Atomic uint64_t turn; // n: the writer's that takes place n; n+1: the reader's
	uint64_t pad;
};

struct tpsl_journal {
	_Atomic uint64_t told; // events
	uint64_t pad1[7];
	_Atomic uint64_t taken; // places
	_Atomic uint64_t lost;  // events that found the cell of their place in use
	uint64_t pad2[6];
	struct tpsl_journal_cell cells[TPSL_JOURNAL_CELLS];
};

// The same figures stand in ib/regcache/layout_unsafe_test.go.
_Static_assert(offsetof(struct tpsl_journal, told) == 0, "told");
_Static_assert(offsetof(struct tpsl_journal, taken) == 64, "taken");
_Static_assert(offsetof(struct tpsl_journal, lost) == 72, "lost");
_Static_assert(offsetof(struct tpsl_journal, cells) == 128, "cells");
_Static_assert(sizeof(struct tpsl_journal) == 128 + 1024 * 32, "journal");
_Static_assert(offsetof(struct tpsl_journal_cell, start) == 0, "start");
_Static_assert(offsetof(struct tpsl_journal_cell, end) == 8, "end");
_Static_assert(offsetof(struct tpsl_journal_cell, turn) == 16, "turn");
_Static_assert(sizeof(struct tpsl_journal_cell) == 32, "cell");

// tpsl_journal_tell says that the memory from start to end is about to go. Any thread may
// call it anywhere: it takes no lock, allocates nothing and makes no system call. The
// order of its stores is explained in docs/endpoints/regcache.md.
static inline void tpsl_journal_tell(struct tpsl_journal *j, uint64_t start, uint64_t end)
{
	uint64_t n = atomic_load_explicit(&j->taken, memory_order_relaxed);
	for (;;) {
		struct tpsl_journal_cell *cell = &j->cells[n % TPSL_JOURNAL_CELLS];
		uint64_t turn = atomic_load_explicit(&cell->turn, memory_order_acquire);
		if (turn < n) {
			atomic_fetch_add_explicit(&j->lost, 1, memory_order_relaxed);
			break;
		}
		if (turn == n && atomic_compare_exchange_weak_explicit(&j->taken, &n, n + 1, memory_order_relaxed, memory_order_relaxed)) {
			cell->start = start;
			cell->end = end;
			atomic_store_explicit(&cell->turn, n + 1, memory_order_release);
			break;
		}
		if (turn != n)
			n = atomic_load_explicit(&j->taken, memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&j->told, 1, memory_order_release);
}

#endif
